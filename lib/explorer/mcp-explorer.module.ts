import type { Server } from 'node:http';
import {
  All,
  Controller,
  Inject,
  Logger,
  Module,
  Req,
  Res,
  UseGuards,
  VERSION_NEUTRAL,
  type DynamicModule,
  type OnModuleInit,
  type Type,
} from '@nestjs/common';
import { ApplicationConfig, HttpAdapterHost, ModulesContainer } from '@nestjs/core';
import { InterceptorReports } from '../interceptors/reports.js';
import { McpCoreModule } from '../module/mcp-core.module.js';
import { routePaths } from '../execution/route-paths.js';
import { BodyGate } from '../transports/http/body-gate.js';
import { hooksOf } from '../transports/http/platform.js';
import { originOf } from '../protocol/origin-of.js';
import { InterceptorLoader } from '../module/interceptor-loader.js';
import { McpServers } from '../module/mcp-servers.js';
import { serverIn } from './call/caller.js';
import { Calls } from './call/calls.js';
import {
  resolveExplorerOptions,
  type ExplorerSettings,
  type McpExplorerOptions,
} from './explorer-options.js';
import { ExplorerSite, MAX_BODY_BYTES } from './explorer-site.js';
import { Recorder } from './record/recorder.js';
import { CallerViews } from './views/callers.js';
import { catalogueOf } from './views/catalogue.js';
import { chainsOf } from './views/chain.js';
import { findingsOf } from './views/findings.js';
import { liveOf } from './views/live.js';
import { cancelTask, tasksOf } from './views/tasks.js';

const SETTINGS = 'nestjs-mcp:explorer-settings';
const SITE = 'nestjs-mcp:explorer-site';

const BODY_TIMEOUT_MS = 30_000;

/** Fastify's option, and its newer place. */
interface SlashOptions {
  readonly ignoreTrailingSlash?: boolean;
}

/** Nest's and the `@nestjs/swagger` key for a controller that is left out of the document. */
const SWAGGER_EXCLUDE_METADATA = 'swagger/apiExcludeController';

/**
 * A page that shows what the servers of the application offer, to which callers, and why. Without guards, it answers this
 * machine only, and the application does not start with `NODE_ENV=production`.
 * @example
 * ```ts
 * @Module({
 *   imports: [McpModule.forRoot({ name: 'shop', version: '1.0.0' }), McpExplorerModule.forRoot()],
 * })
 * export class AppModule {}
 * ```
 */
@Module({})
export class McpExplorerModule implements OnModuleInit {
  private readonly gate = new BodyGate(MAX_BODY_BYTES, BODY_TIMEOUT_MS);

  /** @internal Nest makes it. */
  constructor(
    @Inject(SITE) private readonly site: ExplorerSite,
    @Inject(SETTINGS) private readonly settings: ExplorerSettings,
    @Inject(Recorder) recorder: Recorder,
    servers: McpServers,
    reports: InterceptorReports,
    private readonly modules: ModulesContainer,
    private readonly config: ApplicationConfig,
    private readonly adapterHost: HttpAdapterHost,
  ) {
    servers.observe('McpExplorerModule', recorder);
    // The body parsers of the application accept less: 100 kB on Express.
    adapterHost.init$.subscribe(() => {
      this.gate.install(adapterHost.httpAdapter);
      this.serveSlash();
    });
    reports.listeners.push(recorder);
  }

  /** @throws McpBootstrapError, while the application starts, for a wrong option, or without guards in production */
  static forRoot(options: McpExplorerOptions = {}): DynamicModule {
    const settings = usable(options);
    return {
      module: McpExplorerModule,
      imports: [McpCoreModule, ...settings.imports],
      controllers: [controllerFor(settings)],
      providers: [
        Recorder,
        {
          provide: SETTINGS,
          inject: [McpServers],
          useFactory: ({ mistakes }: McpServers) =>
            mistakes.attempt(() => resolveExplorerOptions(options)) ?? settings,
        },
        {
          provide: SITE,
          inject: [SETTINGS, McpServers, InterceptorLoader, Recorder, ApplicationConfig, HttpAdapterHost],
          useFactory: siteOf,
        },
      ],
    };
  }

  async onModuleInit(): Promise<void> {
    this.gate.watch(this.paths('/api/:name'));
    await this.site.open();
    this.adapterHost.listen$.subscribe(() => this.logUrl());
  }

  /** On Fastify, Nest's route does not match the path with a slash at its end, so the page has a second route there. */
  private serveSlash(): void {
    const fastify = hooksOf(this.adapterHost.httpAdapter);
    const options: SlashOptions & { routerOptions?: SlashOptions } = fastify?.initialConfig ?? {};
    if (!fastify || options.ignoreTrailingSlash || options.routerOptions?.ignoreTrailingSlash) return;
    fastify.addHook('onRoute', ({ url, method, handler }) => {
      const isPage = this.paths('/').includes(url) && method !== 'HEAD';
      if (isPage) fastify.route({ url: `${url}/`, method, handler, exposeHeadRoute: false });
    });
  }

  private logUrl(): void {
    const origin = originOf(this.adapterHost.httpAdapter.getHttpServer() as Server);
    const [own] = this.paths('/');
    if (origin !== undefined) new Logger('McpExplorer').log(`The explorer is at ${origin}${own}`);
  }

  /** The paths of a route of the explorer. */
  private paths(methodPath: string): string[] {
    const { applicationId } = this.modules;
    const { path } = this.settings;
    const own = { version: VERSION_NEUTRAL, module: McpExplorerModule, applicationId } as const;
    return routePaths(this.config, { path, methodPath, ...own });
  }
}

function siteOf(
  { path, guards }: ExplorerSettings,
  servers: McpServers,
  interceptors: InterceptorLoader,
  recorder: Recorder,
  config: ApplicationConfig,
  adapterHost: HttpAdapterHost,
): ExplorerSite {
  const httpServer = () => adapterHost.httpAdapter.getHttpServer() as Server;
  const callers = new CallerViews(servers, recorder, httpServer);
  const calls = new Calls(servers, recorder, httpServer);
  return new ExplorerSite(path, guards.length > 0, {
    get: {
      catalogue: () => catalogueOf(servers.all(), config),
      chain: () => chainsOf(servers.all(), interceptors, recorder.counters),
      live: () => liveOf(servers, recorder.live),
      findings: () => findingsOf(servers.all(), interceptors, config),
    },
    post: {
      callers: callers.view,
      call: calls.call,
      answer: calls.answer,
      view: calls.view,
      tasks: request => tasksOf(serverIn(request, servers)),
      cancel: request => cancelTask(serverIn(request, servers), request.body['id']),
    },
  });
}

/** A real Nest route, so that guards apply. Each module has a separate class, because Nest keeps path and guards on the class. */
function controllerFor({ path, guards, decorators }: ExplorerSettings): Type {
  class McpExplorerController {
    constructor(@Inject(SITE) private readonly site: ExplorerSite) {}

    handle(@Req() request: never, @Res() response: never): Promise<void> {
      return this.site.serve(request, response);
    }
  }
  const { prototype } = McpExplorerController;
  const handle = Object.getOwnPropertyDescriptor(prototype, 'handle')!;
  All(['/', '/:file', '/api/:name'])(prototype, 'handle', handle);
  for (const decorate of decorators) decorate(McpExplorerController);
  Reflect.defineMetadata(SWAGGER_EXCLUDE_METADATA, [true], McpExplorerController);
  Controller({ path, version: VERSION_NEUTRAL })(McpExplorerController);
  UseGuards(...guards)(McpExplorerController);
  return McpExplorerController;
}

/** Wrong options are reported while the application starts, and not while its modules are loaded. */
function usable(options: McpExplorerOptions): ExplorerSettings {
  try {
    return resolveExplorerOptions(options);
  } catch {
    return { path: '', guards: [], imports: [], decorators: [] };
  }
}
