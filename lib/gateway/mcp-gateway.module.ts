import { Module, type DynamicModule } from '@nestjs/common';
import { loadSdkClient } from '../connection/sdk-client.js';
import { McpServers } from '../module/mcp-servers.js';
import { MCP_HANDLERS } from '../server/handlers.js';
import { McpModule } from '../mcp.module.js';
import type { McpGatewayOptions } from './gateway-options.js';
import { Gateway } from './gateway.js';
import { resolveGatewayOptions } from './resolve-options.js';

/**
 * Serves other MCP servers as its own, over HTTP and stdio, with the application's interceptors around all messages.
 * @example
 * ```ts
 * @Module({
 *   imports: [McpGatewayModule.forRoot({ path: '/mcp', backend: { url: 'https://files.internal/mcp' } })],
 *   providers: [Guardrails],
 * })
 * export class AppModule {}
 * ```
 */
@Module({})
export class McpGatewayModule {
  /**
   * @throws McpBootstrapError for options that cannot be served; while the application starts, if the package
   *   `@modelcontextprotocol/client` is missing
   */
  static forRoot(options: McpGatewayOptions): DynamicModule {
    const { server, settings } = resolveGatewayOptions(options);
    const served = McpModule.forRoot(server);
    return {
      ...served,
      providers: [
        ...(served.providers ?? []),
        // One module can be used by several applications.
        {
          provide: MCP_HANDLERS,
          inject: [McpServers],
          useFactory: ({ mistakes }: McpServers) => gatewayOf(settings).catch(mistakes.keep),
        },
      ],
    };
  }
}

async function gatewayOf(...settings: ConstructorParameters<typeof Gateway>): Promise<Gateway> {
  await loadSdkClient('McpGatewayModule');
  return new Gateway(...settings);
}
