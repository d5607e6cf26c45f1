import { Inject, Module, type DynamicModule } from '@nestjs/common';
import { McpCoreModule } from '../module/mcp-core.module.js';
import { MCP_SERVERS, type McpServers } from '../module/mcp-servers.js';
import { addToContext } from './app-context.js';
import { AppsExtension } from './apps-extension.js';

/**
 * Shows results of tools in views (MCP Apps, SEP-1865). Import it once, in any module.
 * @example
 * ```ts
 * @Module({
 *   imports: [McpModule.forRoot({ name: 'orders', version: '1.0.0' }), McpAppsModule.forRoot()],
 *   providers: [OrdersBoard],
 * })
 * export class AppModule {}
 * ```
 */
@Module({})
export class McpAppsModule {
  static {
    addToContext();
  }

  /** @internal Nest creates it. */
  constructor(@Inject(MCP_SERVERS) servers: McpServers) {
    servers.extend({ where: 'McpAppsModule', create: () => new AppsExtension() });
  }

  static forRoot(): DynamicModule {
    return { module: McpAppsModule, imports: [McpCoreModule] };
  }
}
