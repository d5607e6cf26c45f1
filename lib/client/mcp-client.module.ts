import { Inject, Module, type DynamicModule, type FactoryProvider, type Provider } from '@nestjs/common';
import type { AsyncOptions } from '../options/async-options.js';
import { McpCoreModule } from '../module/mcp-core.module.js';
import { assertList, type McpClientOptions } from './client-options.js';
import type { McpClient } from './mcp-client.js';
import { McpClients } from './mcp-clients.js';
import { McpServers } from '../module/mcp-servers.js';
import { tokenOf, wantedNames } from './tokens.js';

const MCP_CLIENT_OPTIONS = 'nestjs-mcp:client-options';

/** Options of `McpClientModule.registerAsync`: a factory makes the options of the clients. */
export type McpClientModuleAsyncOptions = AsyncOptions<McpClientOptions[]>;

@Module({
  imports: [McpCoreModule],
  providers: [McpClients],
  exports: [McpClients],
})
class McpClientCoreModule {}

/**
 * Provides clients of MCP servers, by names that are unique in the application. It needs no `McpModule`.
 * @example
 * ```ts
 * @Module({ imports: [McpClientModule.register([{ name: 'billing', url: 'https://billing.internal/mcp' }])] })
 * export class AppModule {}
 * ```
 */
@Module({})
export class McpClientModule {
  /** @internal Nest makes it, once for each `register`. */
  constructor(
    @Inject(MCP_CLIENT_OPTIONS) options: readonly McpClientOptions[],
    clients: McpClients,
    { mistakes }: McpServers,
  ) {
    mistakes.attempt(() => {
      assertList(options);
      for (const client of options) mistakes.attempt(() => clients.register(client));
    });
  }

  /**
   * Adds clients; call it in any number of modules.
   * @throws McpBootstrapError, while the application starts, for wrong options
   */
  static register(clients: McpClientOptions[]): DynamicModule {
    const names = Array.isArray(clients) ? clients.map(client => client?.name) : [];
    return moduleOf({ provide: MCP_CLIENT_OPTIONS, useValue: clients }, () => names);
  }

  /** Like `register`, with options that a factory makes. */
  static registerAsync({ imports, inject = [], useFactory }: McpClientModuleAsyncOptions): DynamicModule {
    const factory = useFactory as () => McpClientOptions[];
    return moduleOf({ provide: MCP_CLIENT_OPTIONS, inject, useFactory: factory }, wantedNames, imports);
  }
}

/** @param names read after all classes are decorated: a factory gives the names too late for Nest */
function moduleOf(
  options: Provider,
  names: () => string[],
  imports: DynamicModule['imports'] = [],
): DynamicModule {
  return {
    module: McpClientModule,
    global: true,
    imports: [McpCoreModule, McpClientCoreModule, ...imports],
    get providers() {
      return [options, ...names().map(handleOf)];
    },
    get exports() {
      return names().map(tokenOf);
    },
  };
}

const handleOf = (name: string): FactoryProvider<McpClient> => ({
  provide: tokenOf(name),
  inject: [McpClients],
  useFactory: (clients: McpClients) => clients.handle(name),
});
