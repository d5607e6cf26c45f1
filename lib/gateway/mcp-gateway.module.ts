import { Module, type DynamicModule } from '@nestjs/common';
import { loadSdkClient } from '../connection/sdk-client.js';
import { McpServers } from '../module/mcp-servers.js';
import { McpModule } from '../mcp.module.js';
import type { McpGatewayOptions } from './gateway-options.js';
import { Gateway } from './gateway.js';
import { GatewayTasks } from './gateway-tasks.js';
import { resolveGatewayOptions, type GatewaySettings } from './resolve-options.js';

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
          provide: Gateway,
          inject: [McpServers],
          useFactory: (servers: McpServers) => extend(servers, settings).catch(servers.mistakes.keep),
        },
      ],
    };
  }
}

/** @throws McpBootstrapError without the package of the client */
async function extend(servers: McpServers, settings: GatewaySettings): Promise<Gateway> {
  await loadSdkClient('McpGatewayModule');
  const { name } = settings;
  const handlers = new Gateway(settings);
  const where = `McpGatewayModule.forRoot({ name: ${JSON.stringify(name)} })`;
  servers.extend({ server: name, where, create: () => ({ handlers }) });
  servers.extend({ server: name, where, create: () => new GatewayTasks(handlers) });
  return handlers;
}
