import { Inject, Module, type DynamicModule } from '@nestjs/common';
import type MiniSearch from 'minisearch';
import { missingPackage } from '../../exceptions/missing-package.js';
import { McpCoreModule } from '../../module/mcp-core.module.js';
import { MCP_SERVERS, type McpServers } from '../../module/mcp-servers.js';
import { resolveToolSearchOptions, type McpToolSearchOptions } from './search-options.js';
import { searchToolsOf } from './search-tools.js';
import { SEARCH_TOOLS, ToolSearch } from './tool-search.js';

/**
 * Lists `search_tools` and `call_tool` in place of the tools of a server, so that hundreds of tools take little room in a
 * conversation. Tools that are not listed can still be called by their names. Needs the package `minisearch`.
 * @example
 * ```ts
 * @Module({
 *   imports: [
 *     McpModule.forRoot({ name: 'shop', version: '1.0.0' }),
 *     McpToolSearchModule.forRoot({ alwaysVisible: ['search_products'] }),
 *   ],
 *   providers: [ProductTools, InvoiceTools, OrderTools],
 * })
 * export class AppModule {}
 * ```
 */
@Module({})
export class McpToolSearchModule {
  /** @internal Nest creates it. */
  constructor(search: ToolSearch, @Inject(MCP_SERVERS) servers: McpServers) {
    servers.extend({
      where: 'McpToolSearchModule',
      // For the server that has the tools of this module.
      create: ({ table }) => {
        const { instance } = table.get('tool', SEARCH_TOOLS)?.target ?? {};
        return (instance as { search?: unknown } | undefined)?.search === search ? search : undefined;
      },
    });
  }

  /** @throws McpBootstrapError, while the application starts, for wrong options, and without the package `minisearch` */
  static forRoot(options: McpToolSearchOptions = {}): DynamicModule {
    return {
      module: McpToolSearchModule,
      imports: [McpCoreModule],
      providers: [
        searchToolsOf(options.server),
        { provide: ToolSearch, useFactory: () => searchOf(options) },
      ],
    };
  }
}

async function searchOf(options: McpToolSearchOptions): Promise<ToolSearch> {
  const settings = resolveToolSearchOptions(options);
  try {
    const { default: Search } = await import('minisearch');
    // The types of the package for `import()` are others than for `require()`.
    return new ToolSearch(settings, Search as unknown as typeof MiniSearch);
  } catch (error) {
    throw missingPackage('McpToolSearchModule', 'minisearch', error);
  }
}
