import { Inject, Module, type DynamicModule } from '@nestjs/common';
import { McpCoreModule } from '../module/mcp-core.module.js';
import { MCP_SERVERS, type McpServers } from '../module/mcp-servers.js';
import { resolveToolsetsOptions, type McpToolsetsOptions } from './toolset-options.js';
import { ToolsetsExtension } from './toolsets-extension.js';

const OPTIONS = 'nestjs-mcp:toolsets-options';

/**
 * Gives each `@Toolset` a URL of its own, below that of the endpoint: `/mcp/x/billing`, `/mcp/x/billing,orders`,
 * `/mcp/readonly` and `/mcp/x/billing/readonly`. Import it once for each server.
 * @example
 * ```ts
 * @Module({
 *   imports: [McpModule.forRoot({ name: 'shop', version: '1.0.0' }), McpToolsetsModule.forRoot()],
 *   providers: [InvoiceTools, OrderTools],
 * })
 * export class AppModule {}
 * ```
 */
@Module({})
export class McpToolsetsModule {
  /** @internal Nest creates it. */
  constructor(@Inject(OPTIONS) options: McpToolsetsOptions, @Inject(MCP_SERVERS) servers: McpServers) {
    const settings = servers.mistakes.attempt(() => resolveToolsetsOptions(options));
    // Without settings, they are wrong, and the application does not start.
    if (!settings) return;
    const { segment, server } = settings;
    servers.extend({
      server,
      where: 'McpToolsetsModule',
      paths: ['/readonly', `/${segment}/:toolsets`, `/${segment}/:toolsets/readonly`],
      create: () => new ToolsetsExtension(settings),
    });
  }

  /** @throws McpBootstrapError, while the application starts, for wrong options */
  static forRoot(options: McpToolsetsOptions = {}): DynamicModule {
    return {
      module: McpToolsetsModule,
      imports: [McpCoreModule],
      providers: [{ provide: OPTIONS, useValue: options }],
    };
  }
}
