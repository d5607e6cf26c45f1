import { Inject, Module, type DynamicModule } from '@nestjs/common';
import { McpCoreModule } from '../module/mcp-core.module.js';
import { MCP_SERVERS, type McpServers } from '../module/mcp-servers.js';
import { addToContext } from './app-context.js';
import { AppsExtension } from './apps-extension.js';
import { loadHtmlParser, type FindHtmlErrors } from './html-errors.js';

const FIND_HTML_ERRORS = 'nestjs-mcp:find-html-errors';

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
  constructor(
    @Inject(MCP_SERVERS) servers: McpServers,
    @Inject(FIND_HTML_ERRORS) findErrors?: FindHtmlErrors,
  ) {
    servers.extend({ where: 'McpAppsModule', create: () => new AppsExtension(findErrors) });
  }

  static forRoot(): DynamicModule {
    return {
      module: McpAppsModule,
      imports: [McpCoreModule],
      providers: [{ provide: FIND_HTML_ERRORS, useFactory: loadHtmlParser }],
    };
  }
}
