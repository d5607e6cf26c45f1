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
import { McpCoreModule } from './mcp-core.module.js';
import { routePaths } from './execution/route-paths.js';
import {
  assertAsyncOptions,
  resolveFeatureOptions,
  resolveOptions,
} from './server/resolve-server-options.js';
import type {
  McpFeatureOptions,
  McpModuleAsyncOptions,
  McpModuleOptions,
  McpOptionsFactory,
  ResolvedOptions,
} from './server/server-options.js';
import { McpServerInstance } from './server/mcp-server-instance.js';
import { McpServers } from './server/mcp-servers.js';
import { SHUTDOWN_GRACE_MS } from './protocol/running-calls.js';
import { logStart } from './server/start-log.js';
import { MCP_UPSTREAM, type Upstream } from './server/upstream.js';
import { SHARED, type SharedState } from './shared/shared-state.js';
import { createController, ENDPOINT, type EndpointSlot } from './transports/http/mcp.controller.js';
import { HttpTransport } from './transports/http/http-transport.js';
import { reserveStdout } from './transports/stdio/reserve-stdout.js';
import { StderrLogger } from './transports/stdio/stderr.logger.js';
import { StdioTransport } from './transports/stdio/stdio-transport.js';

const CONTROLLER = 'nestjs-mcp:controller';
const MCP_OPTIONS = 'nestjs-mcp:options';

/** What is known of a server before its options are. */
interface Route {
  readonly controller: Type;
  /** What the controller was decorated with. */
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
  private readonly host: McpServerInstance;
  private readonly http: HttpTransport | undefined;
  private readonly stdio: StdioTransport | undefined;
  private closing?: Promise<void>;

  /** @internal Nest makes it. */
  constructor(
    @Inject(MCP_OPTIONS) options: McpModuleOptions,
    @Inject(CONTROLLER) { controller, decorators }: Route,
    @Inject(ENDPOINT) slot: EndpointSlot,
    servers: McpServers,
    private readonly modules: ModulesContainer,
    private readonly config: ApplicationConfig,
    private readonly adapterHost: HttpAdapterHost,
    @Optional() @Inject(MCP_UPSTREAM) upstream?: Upstream,
    @Optional() @Inject(SHARED) shared?: SharedState,
  ) {
    const resolved = resolveOptions(options, shared);
    this.host = new McpServerInstance(resolved, upstream);
    assertDecorated(resolved, options, decorators);
    // Options may be made in any order; modules are in that of the imports.
    const position = [...modules.values()].findIndex(module => module.controllers.has(controller));
    servers.register(this.host, position);
    if (resolved.http) this.http = new HttpTransport(this.host, resolved.http, adapterHost, controller, slot);
    // Nest refuses a class among its controllers that is none; without methods to route, it routes nothing.
    else Controller()(controller);
    if (resolved.stdio) this.stdio = new StdioTransport(this.host);
  }

  /**
   * Adds a server to the application. Call it several times, with different names and paths, for several servers.
   * @throws McpBootstrapError, while the application starts, for options that cannot be served
   */
  static forRoot(options: McpModuleOptions): DynamicModule {
    if (options?.stdio) {
      // Not later: providers may print while they are made.
      reserveStdout();
      Logger.overrideLogger(new StderrLogger());
    }
    const decorators = options?.http ? options.http.decorators : undefined;
    return serverModule({ provide: MCP_OPTIONS, useValue: options }, { decorators });
  }

  /** Like `forRoot`, with options that are made by a factory or another provider. */
  static forRootAsync(async: McpModuleAsyncOptions): DynamicModule {
    const { imports, inject = [], decorators, useFactory, useClass, useExisting } = async;
    const factory = useExisting ?? useClass;
    const options: Provider = {
      provide: MCP_OPTIONS,
      inject: factory ? [factory] : inject,
      useFactory: (...made: never[]) => {
        assertAsyncOptions(async);
        return factory ? (made[0] as McpOptionsFactory).createMcpOptions() : useFactory!(...made);
      },
    };
    return serverModule(options, { imports, decorators, providers: useClass ? [useClass] : [] });
  }

  /**
   * Assigns handler classes to a server. The application stops at start if no module provides a class.
   * @param handlers classes with `@Tool`, `@Prompt`, … methods, which a module lists in its `providers`
   */
  static forFeature(handlers: Type[], options: McpFeatureOptions = {}): DynamicModule {
    const { server } = resolveFeatureOptions(options);
    const feature: McpFeature = { handlers, server };
    return { module: McpFeatureModule, providers: [{ provide: MCP_FEATURE, useValue: feature }] };
  }

  /**
   * Mounts the route. Nest calls this right before it registers routes, and the controller's class, with its path, is
   * shared by all applications that are made of the same module.
   */
  configure(): void {
    const { http } = this.host.options;
    if (!http) return;
    const { path, version } = http;
    const { applicationId } = this.modules;
    this.http?.mount(routePaths(this.config, { path, version, module: McpModule, applicationId }));
  }

  /** Opens the transports, and logs what is served. */
  async onApplicationBootstrap(): Promise<void> {
    await this.host.open();
    this.host.upstream?.open(this.host.changes);
    await this.http?.open();
    this.stdio?.open(exitCode => this.onStdinEnd(exitCode));
    this.host.isOpen = true;
    logStart(this.host);
  }

  /** Begins to close the transports: several servers of an application do so at the same time. */
  onModuleDestroy(): void {
    this.host.isOpen = false;
    this.closing ??= this.shutDown();
    // Whoever waits for it, in the next hook, is told.
    this.closing.catch(() => undefined);
  }

  /** Waits until the transports are closed. Nest's HTTP server closes after this hook. */
  async beforeApplicationShutdown(): Promise<void> {
    await this.closing;
  }

  /** Lets the calls that run finish within `shutdownTimeoutMs`, then ends them and closes the transports. */
  private async shutDown(): Promise<void> {
    const { shutdownTimeoutMs } = this.host.options;
    const deadline = performance.now() + shutdownTimeoutMs + SHUTDOWN_GRACE_MS;
    await Promise.all([this.stdio?.close(), this.http?.close()]);
    const left = Math.max(0, deadline - performance.now());
    await Promise.all([this.host.upstream?.close(), this.host.rounds.ended(left)]);
    await this.host.close();
  }

  /** The host hung up. A process that nobody else can reach has nothing left to do. */
  private onStdinEnd(exitCode: number): void {
    if (this.adapterHost.listening) return;
    if (process.listenerCount('SIGTERM') > 0) process.kill(process.pid, 'SIGTERM');
    else setImmediate(() => process.exit(exitCode || undefined));
  }
}

/** Holds what `McpModule.forFeature` was given. */
@Module({})
class McpFeatureModule {}

/** Decorators that came too late for the route would guard nothing. */
function assertDecorated(
  { name }: ResolvedOptions,
  { http }: McpModuleOptions,
  done: Route['decorators'],
): void {
  if (!http || http.decorators === done || !http.decorators?.length) return;
  throw new McpBootstrapError(
    `McpModule.forRootAsync() of ${JSON.stringify(name)}`,
    '"http.decorators" come too late from a factory, for the route is decorated already; pass them to forRootAsync beside its factory, as "decorators"',
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
      // Made anew by each application, for several can be made of one module.
      { provide: ENDPOINT, useFactory: (): EndpointSlot => ({}) },
    ],
  };
}
