import type { Server } from 'node:http';
import {
  Controller,
  Inject,
  Logger,
  Module,
  Optional,
  type BeforeApplicationShutdown,
  type DynamicModule,
  type NestModule,
  type OnApplicationBootstrap,
  type OnModuleDestroy,
  type Provider,
  type Type,
} from '@nestjs/common';
import { ApplicationConfig, HttpAdapterHost, ModulesContainer } from '@nestjs/core';
import { McpBootstrapError } from './exceptions/mcp-bootstrap.error.js';
import { MCP_FEATURE, type McpFeature } from './catalog/explorer.js';
import { McpCoreModule } from './module/mcp-core.module.js';
import { BoundMiddleware } from './execution/route/bound-middleware.js';
import { routePaths } from './execution/route-paths.js';
import {
  assertAsyncOptions,
  resolveFeatureOptions,
  resolveOptions,
} from './module/resolve-server-options.js';
import type {
  McpFeatureOptions,
  McpModuleAsyncOptions,
  McpModuleOptions,
  McpOptionsFactory,
  ResolvedOptions,
} from './server/server-options.js';
import type { McpServerInstance } from './server/mcp-server-instance.js';
import { assertStdio } from './module/entry-checks.js';
import { ServerDraft } from './module/server-draft.js';
import { McpServers } from './module/mcp-servers.js';
import { SHUTDOWN_GRACE_MS } from './protocol/running-calls.js';
import { logListening, logStart } from './module/start-log.js';
import { SHARED, type SharedState } from './stores/shared-state.js';
import { createController, ENDPOINT, type EndpointSlot } from './transports/http/mcp.controller.js';
import { HttpTransport } from './transports/http/http-transport.js';
import { reserveStdout } from './transports/stdio/reserve-stdout.js';
import { StderrLogger } from './transports/stdio/stderr.logger.js';
import type { StdioTransport } from './transports/stdio/stdio-transport.js';

const CONTROLLER = 'nestjs-mcp:controller';
const MCP_OPTIONS = 'nestjs-mcp:options';

/** Replaces options that are wrong, until `HandlerLoader` ends the start. */
const STAND_IN: McpModuleOptions = { name: 'stand-in', version: '0', http: false };

/** The parts of a server that are known before its options. */
interface Route {
  readonly controller: Type;
  /** The decorators that the controller already has. */
  readonly decorators: ClassDecorator[] | undefined;
}

/**
 * Serves the application's providers over the Model Context Protocol.
 * @example
 * ```ts
 * @Module({
 *   imports: [McpModule.forRoot({ name: 'shop', version: '1.0.0' })],
 *   providers: [CatalogTools],
 * })
 * export class AppModule {}
 * ```
 */
@Module({})
export class McpModule
  implements NestModule, OnApplicationBootstrap, OnModuleDestroy, BeforeApplicationShutdown
{
  private readonly draft: ServerDraft;
  private readonly http: HttpTransport | undefined;
  private stdio?: StdioTransport;
  private closing?: Promise<void>;

  /** @internal Nest creates it. */
  constructor(
    @Inject(MCP_OPTIONS) options: McpModuleOptions,
    @Inject(CONTROLLER) { controller, decorators }: Route,
    @Inject(ENDPOINT) slot: EndpointSlot,
    private readonly servers: McpServers,
    private readonly middleware: BoundMiddleware,
    private readonly modules: ModulesContainer,
    private readonly config: ApplicationConfig,
    private readonly adapterHost: HttpAdapterHost,
    @Optional() @Inject(SHARED) shared?: SharedState,
  ) {
    const { mistakes } = servers;
    const given = mistakes.attempt(() => resolveOptions(options, shared));
    const resolved = given ?? resolveOptions(STAND_IN);
    this.draft = new ServerDraft(resolved);
    if (given && options !== STAND_IN) {
      mistakes.attempt(() => assertDecorated(given, options, decorators));
      // Nest may create options in any order; positions follow the order of the imports.
      const position = [...modules.values()].findIndex(module => module.controllers.has(controller));
      mistakes.attempt(() => servers.register(this.draft, position));
    }
    if (resolved.http) this.http = new HttpTransport(resolved, resolved.http, adapterHost, controller, slot);
    // Nest refuses a controller class without `@Controller`. Without methods, the class routes nothing.
    else Controller()(controller);
    if (resolved.stdio) reserveStdout();
  }

  /**
   * Adds a server to the application. Call it several times, with different names and paths, for several servers.
   * @throws McpBootstrapError, while the application starts, for options that cannot be served
   */
  static forRoot(options: McpModuleOptions): DynamicModule {
    if (options?.stdio) {
      // Reserved now, because providers may print while Nest creates them.
      reserveStdout();
      Logger.overrideLogger(new StderrLogger());
    }
    const decorators = options?.http ? options.http.decorators : undefined;
    return serverModule({ provide: MCP_OPTIONS, useValue: options }, { decorators });
  }

  /** Like `forRoot`, with options from a factory or another provider. */
  static forRootAsync(async: McpModuleAsyncOptions): DynamicModule {
    const { imports, inject = [], decorators, useFactory, useClass, useExisting } = async;
    const factory = useExisting ?? useClass;
    const options: Provider = {
      provide: MCP_OPTIONS,
      inject: [McpServers, ...(factory ? [factory] : inject)],
      useFactory: async ({ mistakes }: McpServers, ...made: never[]) => {
        try {
          assertAsyncOptions(async);
          return await (factory ? (made[0] as McpOptionsFactory).createMcpOptions() : useFactory!(...made));
        } catch (error) {
          return mistakes.keep(error) ?? STAND_IN;
        }
      },
    };
    return serverModule(options, { imports, decorators, providers: useClass ? [useClass] : [] });
  }

  /**
   * Assigns handler classes to a server. The application does not start if no module provides a class.
   * @param handlers classes with `@Tool`, `@Prompt` and other handler methods, listed in the `providers` of a module
   */
  static forFeature(handlers: Type[], options: McpFeatureOptions = {}): DynamicModule {
    const { server } = resolveFeatureOptions(options);
    const feature: McpFeature = { handlers, server };
    return { module: McpFeatureModule, providers: [{ provide: MCP_FEATURE, useValue: feature }] };
  }

  /**
   * Mounts the route. Nest calls this right before it registers routes. All applications that use the same module share
   * the controller's class and its path.
   */
  configure(): void {
    this.middleware.capture(this.adapterHost.httpAdapter);
    const { http } = this.draft.options;
    if (!http) return;
    const { path, version } = http;
    const { applicationId } = this.modules;
    const pathsOf = (own: string) =>
      routePaths(this.config, { path: own, version, module: McpModule, applicationId });
    const parts = this.servers.pathsBelow(this.draft.options);
    const own = pathsOf(path);
    const below = parts.flatMap(part => pathsOf(path.replace(/\/$/, '') + part));
    const lost = below.find(one => !own.some(whole => one.startsWith(whole.replace(/\/$/, ''))));
    if (lost !== undefined) throw notBelow(lost, own[0]);
    this.http?.mount(parts, [...own, ...below]);
    this.draft.paths = own;
  }

  /** Opens the transports, and logs what the server offers. */
  async onApplicationBootstrap(): Promise<void> {
    // `HandlerLoader` has built it, or has ended the start.
    const server = this.draft.server!;
    assertStdio(this.draft);
    await server.open();
    await this.http?.open(server);
    if (server.options.stdio) await this.openStdio(server);
    // The application may have been closed while its modules started.
    if (this.closing) return this.shutDown();
    server.opened();
    logStart(server, process.env);
    this.adapterHost.listen$.subscribe(() =>
      logListening(server, this.adapterHost.httpAdapter.getHttpServer() as Server),
    );
  }

  /**
   * Drains, then begins to close the transports. The next hook waits for that, so that several servers of an application
   * close at the same time.
   */
  async onModuleDestroy(): Promise<void> {
    await this.servers.drain();
    this.closing ??= this.shutDown();
    // The next hook awaits the promise and reports its rejection.
    this.closing.catch(() => undefined);
  }

  /** Waits until the transports are closed. Nest's HTTP server closes after this hook. */
  async beforeApplicationShutdown(): Promise<void> {
    await this.closing;
  }

  private async openStdio(server: McpServerInstance): Promise<void> {
    const { StdioTransport } = await import('./transports/stdio/stdio-transport.js');
    this.stdio = new StdioTransport(server);
    this.stdio.open(exitCode => this.onStdinEnd(exitCode));
  }

  /** Waits up to `shutdownTimeoutMs` for running calls, then ends them and closes the transports. */
  private async shutDown(): Promise<void> {
    const { server, options } = this.draft;
    const deadline = performance.now() + options.shutdownTimeoutMs + SHUTDOWN_GRACE_MS;
    // The start may have failed before stdio was open.
    if (options.stdio && !this.stdio) reserveStdout().release();
    await Promise.all([
      this.stdio?.close(),
      this.http?.close(server),
      server?.extensions.close(options.shutdownTimeoutMs),
    ]);
    await server?.close(Math.max(0, deadline - performance.now()));
  }

  /** Runs when the host closes stdin. Without an HTTP server, the process then ends. */
  private onStdinEnd(exitCode: number): void {
    if (this.adapterHost.listening) return;
    if (process.listenerCount('SIGTERM') > 0) process.kill(process.pid, 'SIGTERM');
    else setImmediate(() => process.exit(exitCode || undefined));
  }
}

/** Holds the declaration of one `McpModule.forFeature`. */
@Module({})
class McpFeatureModule {}

const notBelow = (path: string, whole: string): McpBootstrapError =>
  new McpBootstrapError(
    'setGlobalPrefix()',
    `it excludes ${whole}, but not ${path}, which is a part of the same server; exclude the paths below, too`,
  );

/** Refuses decorators that arrive after the route is decorated: they would protect nothing. */
function assertDecorated(
  { name }: ResolvedOptions,
  { http }: McpModuleOptions,
  done: Route['decorators'],
): void {
  if (!http || http.decorators === done || !http.decorators?.length) return;
  throw new McpBootstrapError(
    `McpModule.forRootAsync() of ${JSON.stringify(name)}`,
    '"http.decorators" from a factory come too late, because the route is already decorated; pass them to forRootAsync as "decorators", beside the factory',
  );
}

interface ServerModuleParts extends Pick<DynamicModule, 'imports' | 'providers'> {
  decorators?: ClassDecorator[];
}

function serverModule(
  options: Provider,
  { imports = [], providers = [], decorators }: ServerModuleParts,
): DynamicModule {
  const controller = createController();
  for (const decorate of decorators ?? []) decorate(controller);
  const route: Route = { controller, decorators };
  return {
    module: McpModule,
    imports: [McpCoreModule, ...imports],
    controllers: [controller],
    providers: [
      ...providers,
      options,
      { provide: CONTROLLER, useValue: route },
      // Each application gets its own slot, because several applications can share one module.
      { provide: ENDPOINT, useFactory: (): EndpointSlot => ({}) },
    ],
  };
}
