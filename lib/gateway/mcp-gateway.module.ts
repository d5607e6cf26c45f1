import { Module, type DynamicModule } from '@nestjs/common';
import { MCP_UPSTREAM } from '../server/upstream.js';
import { McpModule } from '../mcp.module.js';
import type { McpGatewayOptions } from './gateway-options.js';
import { Gateway } from './gateway.js';
import { resolveGatewayOptions } from './resolve-options.js';

/**
 * Serves another MCP server, or several, as its own: over HTTP and stdio, to clients of both eras, with the application's
 * interceptors around everything that crosses.
 */
@Module({})
export class McpGatewayModule {
  /**
   * Adds a gateway to the application. It takes no handlers.
   * @throws McpBootstrapError for options that cannot be served
   */
  static forRoot(options: McpGatewayOptions): DynamicModule {
    const { server, settings } = resolveGatewayOptions(options);
    const served = McpModule.forRoot(server);
    return {
      ...served,
      providers: [
        ...(served.providers ?? []),
        // Made anew by each application, for several can be made of one module.
        { provide: MCP_UPSTREAM, useFactory: () => new Gateway(settings) },
      ],
    };
  }
}
