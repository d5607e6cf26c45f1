import { Module, type DynamicModule, type FactoryProvider } from '@nestjs/common';
import { McpCoreModule } from '../mcp-core.module.js';
import { assertList, type McpClientOptions } from './client-options.js';
import { InputHandlers } from './input-handlers.js';
import { McpClients } from './mcp-clients.js';
import { getMcpClientToken } from './tokens.js';

/** Options of a client of `McpClientModule.registerAsync`: a factory makes all options but the name. */
export interface McpClientModuleAsyncOptions {
  /** Name in the application: `@InjectMcpClient(name)`, `@OnElicitation(name)`. Unique in the application. */
  name: string;
  /** Modules that export what the factory injects. */
  imports?: DynamicModule['imports'];
  /** Providers that the factory is called with. Default: nothing. */
  inject?: FactoryProvider['inject'];
  /** Makes the client's options, once, while the application starts. */
  useFactory: (...args: never[]) => Omit<McpClientOptions, 'name'> | Promise<Omit<McpClientOptions, 'name'>>;
}

@Module({
  imports: [McpCoreModule],
  providers: [InputHandlers, McpClients],
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
  /**
   * Adds clients; call it in any number of modules.
   * @throws McpBootstrapError, while the application starts, for wrong options
   */
  static register(clients: McpClientOptions[]): DynamicModule {
    const names = Array.isArray(clients) ? clients.map(client => client?.name) : [];
    return moduleOf(names, { useFactory: () => clients });
  }

  /**
   * Like `register`, with options that factories make.
   * @example
   * ```ts
   * McpClientModule.registerAsync([
   *   { name: 'billing', inject: [ConfigService], useFactory: (config: ConfigService) => ({ url: config.get('BILLING') }) },
   * ]);
   * ```
   */
  static registerAsync(clients: McpClientModuleAsyncOptions[]): DynamicModule {
    assertList(clients);
    return {
      module: McpClientModule,
      imports: clients.map(({ name, imports, inject, useFactory }) =>
        moduleOf(
          [name],
          { inject, useFactory: async (...args: never[]) => [{ ...(await useFactory(...args)), name }] },
          imports,
        ),
      ),
    };
  }
}

const REGISTERED = 'nestjs-mcp:registered-clients';

function moduleOf(
  names: readonly string[],
  {
    inject = [],
    useFactory,
  }: Pick<FactoryProvider<McpClientOptions[]>, 'inject'> & {
    readonly useFactory: (...args: never[]) => McpClientOptions[] | Promise<McpClientOptions[]>;
  },
  imports: DynamicModule['imports'] = [],
): DynamicModule {
  const tokens = names.map(getMcpClientToken);
  return {
    module: McpClientModule,
    global: true,
    imports: [McpClientCoreModule, ...imports],
    providers: [
      {
        provide: REGISTERED,
        inject: [McpClients, ...inject],
        useFactory: async (clients: McpClients, ...args: never[]) =>
          clients.register(await useFactory(...args)),
      },
      ...names.map((name, index) => ({
        provide: tokens[index],
        inject: [McpClients, REGISTERED],
        useFactory: (clients: McpClients) => clients.get(name),
      })),
    ],
    exports: tokens,
  };
}
