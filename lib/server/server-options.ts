import type {
  ControllerOptions,
  InjectionToken,
  ModuleMetadata,
  OptionalFactoryDependency,
  Type,
} from '@nestjs/common';
import type { CacheHint, Icon } from '@modelcontextprotocol/server';
import type { DeclaredCapabilities } from '../catalog/catalog.js';
import type { CacheableMethod } from '../protocol/methods.js';
import type { EventStore } from '../stores/event-store.js';
import type { InterceptorSettings, McpInterceptorOptions } from '../interceptors/interceptor-options.js';
import type { McpMrtrOptions, MrtrSettings } from '../elicitation/mrtr-options.js';
import type { MessageBus } from '../stores/message-bus.js';
import type { Counting } from '../protocol/caller-limit.js';
import type { SessionStore } from '../stores/session-store.js';

/** How clients of revision 2025-11-25 or earlier are served: with sessions, one request at a time, or not at all. */
export type LegacyMode = 'sessions' | 'stateless' | 'reject';

/** The Streamable HTTP endpoint. */
export interface McpHttpOptions {
  /** Path of the route. The global prefix and versioning apply, as to any route. Default: `/mcp`. */
  path?: string;
  /** Version of the route, if the application enables versioning. Default: none, as for an undecorated controller. */
  version?: ControllerOptions['version'];
  /**
   * Host names that a request's `Host` header may hold, without port; `'*'` for any. Set your own names when you
   * deploy. Default: `localhost`, `127.0.0.1` and `[::1]`, which prevents DNS rebinding.
   */
  allowedHosts?: string[] | '*';
  /**
   * Host names that a browser's `Origin` header may hold, without scheme and port; `'*'` for any. Requests without
   * `Origin` are accepted. Default: the `allowedHosts` or, if they are `'*'`, `localhost`, `127.0.0.1` and `[::1]`.
   */
  allowedOrigins?: string[] | '*';
  /** The largest request body, in bytes. Default: 4 MiB (4,194,304). */
  maxBodyBytes?: number;
  /**
   * Deadline for a request's whole body, in milliseconds; after it, the server answers with HTTP 408. Default: 30,000.
   */
  bodyTimeoutMs?: number;
  /**
   * Maximum open listeners: `subscriptions/listen` streams, and GET streams of sessions. The server answers further
   * listeners with HTTP 503. Default: 1,024.
   */
  maxListeners?: number;
  /**
   * Maximum open listeners of one caller, and of the anonymous callers of one address. The server answers further
   * listeners with HTTP 429. Default: 64.
   */
  maxListenersPerCaller?: number;
  /** Interval of keep-alive comments on event streams, in milliseconds; 0 turns them off. Default: 15,000. */
  keepAliveMs?: number;
  /**
   * Decorators for the route itself, as on a controller: `[Public(), UseGuards(KeyGuard)]`.
   * `[ApiExcludeController(false)]` adds the route to the document of `@nestjs/swagger`, which omits it by default.
   * Nest reads decorators before a factory can run, so `forRootAsync` takes them beside its factory. Default: none.
   */
  decorators?: ClassDecorator[];
}

/** Bounds on the sessions of clients of revision 2025-11-25 or earlier. */
export interface McpSessionOptions {
  /** Maximum open sessions. The server answers further requests for a session with HTTP 503. Default: 1,000. */
  max?: number;
  /**
   * Maximum open sessions of one caller, and of the anonymous callers of one address. The server answers further
   * requests with HTTP 429. Default: 100.
   */
  maxPerCaller?: number;
  /** Lifetime of a session without a request or an open stream, in milliseconds. Default: 600,000 (10 minutes). */
  idleTimeoutMs?: number;
  /** Maximum lifetime of a session, in milliseconds, even if it is in use. Default: 86,400,000 (24 hours). */
  maxLifetimeMs?: number;
  /**
   * How long a call continues after its connection broke, in milliseconds, if it has sent an event. Then it is cancelled,
   * unless its client has come back, or has an open GET stream, on any node. False never cancels. Default: 60,000.
   */
  resumeMs?: number | false;
  /** Maximum resources that one session, or one stdio connection, may subscribe to. Default: 1,000. */
  maxSubscriptions?: number;
  /**
   * Keeps the messages of event streams for clients whose connection broke. Default: `new MemoryEventStore()`, with
   * 1,000 events and 1 Mi characters for each session, 64 Mi characters in total, and 5 minutes.
   */
  eventStore?: EventStore;
  /**
   * Shares sessions with the other nodes of the server. It needs an `eventStore` and a `bus` that the nodes also share.
   * Default: none, or the store of `McpRedisModule`.
   */
  store?: SessionStore;
}

/** Bounds on running calls. Each call of a batch counts, and a batch past a bound is refused as a whole. */
export interface McpCallOptions {
  /** Maximum running calls. The server answers further calls with HTTP 503. Default: 2,048. */
  max?: number;
  /**
   * Maximum running calls of one caller, and of the anonymous callers of one address. The server answers further calls
   * with HTTP 429. Default: 256.
   */
  maxPerCaller?: number;
  /**
   * Deadline for a call, in milliseconds; 0 turns it off. At the deadline, the call's signal aborts and the client gets
   * an error. `ctx.reportProgress()` restarts the time, and waiting for the client's input does not count. A handler that
   * runs for the same time after the end of its call counts for `maxHanging` instead of the bounds above. Default: 60,000.
   */
  timeoutMs?: number;
  /**
   * Maximum handlers that run on after their calls have ended. The server answers further calls with HTTP 503, and those
   * of a caller with half of the handlers with HTTP 429. Default: 2,048.
   */
  maxHanging?: number;
}

/** Selects routes of controllers as tools. */
export interface McpRouteOptions {
  /** The controllers whose routes become tools. Routes with `@Tool(false)`, and those that no tool can serve, do not. */
  include: Type[];
  /** HTTP methods of the routes, such as `['GET']`. Default: all. */
  methods?: readonly string[];
  /** Whether GET routes that have only path parameters become resource templates, too. Default: false. */
  resources?: boolean;
}

/** Options of one MCP server. */
export interface McpModuleOptions {
  /** Name of the server, unique in the application; handlers select it with `server`. */
  name: string;
  /** Version of the server. */
  version: string;
  /** Name for display. */
  title?: string;
  /** Describes the purpose of the server to the model. */
  instructions?: string;
  /** Icons that a client may show. */
  icons?: Icon[];
  /** URL of the server's web site. */
  websiteUrl?: string;
  /** The HTTP endpoint, or false to turn it off. Default: `{ path: '/mcp' }`. */
  http?: McpHttpOptions | false;
  /** Serves the protocol over the process's stdin and stdout, too; logs then go to stderr. Default: false. */
  stdio?: boolean;
  /**
   * How the server treats clients of revision 2025-11-25 or earlier over HTTP; over stdio, only `reject` has an effect.
   * Default: `sessions`.
   */
  legacy?: LegacyMode;
  /** Bounds on sessions. */
  sessions?: McpSessionOptions;
  /** Bounds on calls. */
  calls?: McpCallOptions;
  /**
   * Time for running calls to finish when the application closes, in milliseconds. Then their signals abort, and the
   * clients get an error. Default: 10,000.
   */
  shutdownTimeoutMs?: number;
  /**
   * Time between the end of readiness and the shutdown, in milliseconds. In it, the endpoint serves as before, while load
   * balancers learn that the node leaves. Of several servers of an application, the longest time counts. Default: 0.
   */
  drainMs?: number;
  /** Maximum entries on one page of a list. Default: 1,000. */
  pageSize?: number;
  /**
   * Cache hints for results (2026-07-28). A list that depends on its caller, or that a mutator may change, is always `private`.
   * Default: not cacheable, except `interceptors/list`, which is cacheable for 5 seconds in all revisions.
   */
  cache?: Partial<Record<CacheableMethod, CacheHint>>;
  /**
   * Capabilities to declare at start, even if their handlers are added only at run time. Default: the capabilities of
   * the existing handlers.
   */
  capabilities?: DeclaredCapabilities;
  /** Settings for the application's interceptors: their use and their policy. */
  interceptors?: McpInterceptorOptions;
  /** Settings for calls with several rounds. */
  mrtr?: McpMrtrOptions;
  /**
   * Carries changes and resource updates to the other nodes of the server. Default: none, or the bus of
   * `McpRedisModule`.
   */
  bus?: MessageBus;
  /** Makes tools of the routes of controllers. `@Tool()` on a route does so for one. Default: none. */
  routes?: McpRouteOptions;
}

/** Creates the options of a server, for `forRootAsync({ useClass })` and `useExisting`. */
export interface McpOptionsFactory {
  /** The options of one server. Called once, while the application starts. */
  createMcpOptions(): McpModuleOptions | Promise<McpModuleOptions>;
}

/** Options of `forRootAsync`. Give one of `useFactory`, `useClass` and `useExisting`. */
export interface McpModuleAsyncOptions {
  /** Modules that export the providers that the options need. Default: none. */
  imports?: ModuleMetadata['imports'];
  /** Providers to pass to `useFactory`. */
  inject?: (InjectionToken | OptionalFactoryDependency)[];
  /** Creates the options. */
  useFactory?: (...dependencies: never[]) => McpModuleOptions | Promise<McpModuleOptions>;
  /** A class that creates the options; the module provides it. */
  useClass?: Type<McpOptionsFactory>;
  /** A provider of one of the `imports` that creates the options. */
  useExisting?: InjectionToken<McpOptionsFactory>;
  /** Decorators for the route itself; see `McpHttpOptions.decorators`. Default: none. */
  decorators?: ClassDecorator[];
}

/** Options of `McpModule.forFeature`. */
export interface McpFeatureOptions {
  /** Name of the server that serves the handlers. Default: the first server. */
  server?: string;
}

export type ResolvedHttpOptions = Readonly<
  Required<Omit<McpHttpOptions, 'version' | 'decorators'>> & Pick<McpHttpOptions, 'version'>
>;

/** Options with all defaults filled in. */
export interface ResolvedOptions {
  readonly name: string;
  readonly version: string;
  readonly title?: string;
  readonly instructions?: string;
  readonly icons?: Icon[];
  readonly websiteUrl?: string;
  readonly http: ResolvedHttpOptions | false;
  readonly stdio: boolean;
  readonly legacy: LegacyMode;
  readonly sessions: Readonly<
    Required<Omit<McpSessionOptions, 'eventStore' | 'store'>> &
      Pick<McpSessionOptions, 'eventStore' | 'store'>
  >;
  readonly calls: Readonly<Required<McpCallOptions>>;
  readonly shutdownTimeoutMs: number;
  readonly drainMs: number;
  readonly pageSize: number;
  readonly cache: Partial<Record<CacheableMethod, CacheHint>>;
  readonly capabilities: DeclaredCapabilities;
  readonly interceptors: InterceptorSettings;
  readonly mrtr: MrtrSettings;
  readonly bus?: MessageBus;
  /** How the nodes count callers together. */
  readonly counting?: Counting;
  readonly routes?: Readonly<McpRouteOptions>;
}
