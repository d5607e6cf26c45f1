import type {
  ControllerOptions,
  InjectionToken,
  ModuleMetadata,
  OptionalFactoryDependency,
  Type,
} from '@nestjs/common';
import type { CacheHint, Icon } from '@modelcontextprotocol/server';
import type { DeclaredCapabilities } from '../catalog/catalog.js';
import type { EventStore } from '../protocol/event-store.js';
import type { InterceptorSettings, McpInterceptorOptions } from '../interceptors/interceptor-options.js';
import type { McpMrtrOptions, MrtrSettings } from '../mrtr/mrtr-options.js';
import type { MessageBus } from '../shared/message-bus.js';
import type { SessionStore } from '../shared/session-store.js';

/** How 2025-era clients are served: with sessions, one request at a time, or not at all. */
export type LegacyMode = 'sessions' | 'stateless' | 'reject';

/** The Streamable HTTP endpoint. */
export interface McpHttpOptions {
  /** Path of the route; the global prefix and versioning apply to it as to any route. Default: `/mcp`. */
  path?: string;
  /** Version of the route, where the application enables versioning. Default: none, as for an undecorated controller. */
  version?: ControllerOptions['version'];
  /**
   * Host names that a request's `Host` header may hold, without port; `'*'` for any.
   * Default: `localhost`, `127.0.0.1` and `[::1]`, which keeps DNS rebinding out. Name your own when you deploy.
   */
  allowedHosts?: string[] | '*';
  /**
   * Host names that a browser's `Origin` header may hold, without scheme and port; `'*'` for any. A request without
   * `Origin` passes. Default: the `allowedHosts` or, if they are `'*'`, `localhost`, `127.0.0.1` and `[::1]`.
   */
  allowedOrigins?: string[] | '*';
  /** The largest request body, in bytes. Default: 4 MiB (4,194,304). */
  maxBodyBytes?: number;
  /**
   * How long a request's whole body may take to arrive, in milliseconds; past it, the request is answered with HTTP 408.
   * Default: 30,000.
   */
  bodyTimeoutMs?: number;
  /**
   * The most open listeners: `subscriptions/listen` streams, and GET streams of sessions; past it, a new one is answered
   * with HTTP 503. Default: 1,024.
   */
  maxListeners?: number;
  /** The most open listeners of one caller; past it, a new one is answered with HTTP 429. Default: 64. */
  maxListenersPerCaller?: number;
  /** The same for the anonymous callers of one address, or of one IPv6 network (/64). Default: 64. */
  maxListenersPerAddress?: number;
  /** Interval of keep-alive comments on event streams, in milliseconds; 0 for none. Default: 15,000. */
  keepAliveMs?: number;
  /**
   * Decorators for the route itself, as you would write them on a controller: `[Public(), UseGuards(KeyGuard)]`.
   * `[ApiExcludeController(false)]` adds the route to the document of `@nestjs/swagger`, which leaves it out otherwise.
   * Nest reads them before options can be made asynchronously, so `forRootAsync` takes them beside its factory.
   * Default: none.
   */
  decorators?: ClassDecorator[];
}

/** Bounds on 2025-era sessions. */
export interface McpSessionOptions {
  /** The most sessions at a time; past it, a new one is answered with HTTP 503. Default: 1,000. */
  max?: number;
  /** The most sessions of one caller; past it, a new one is answered with HTTP 429. Default: 100. */
  maxPerCaller?: number;
  /** The same for the anonymous callers of one address, or of one IPv6 network (/64). Default: 100. */
  maxPerAddress?: number;
  /** How long a session without a request or an open stream lives, in milliseconds. Default: 600,000 (10 minutes). */
  idleTimeoutMs?: number;
  /** How long any session lives, in milliseconds, even if it is in use. Default: 86,400,000 (24 hours). */
  maxLifetimeMs?: number;
  /** The most resources that one session, or one stdio connection, may subscribe to. Default: 1,000. */
  maxSubscriptions?: number;
  /**
   * Keeps what is sent on event streams, for clients whose connection broke. Default: `new MemoryEventStore()`, with 1,000
   * events and 1 Mi characters for each session, 64 Mi characters in all, and 5 minutes.
   */
  eventStore?: EventStore;
  /**
   * Shares sessions with the other nodes of the server, together with an `eventStore` that they share and a `bus`.
   * Default: none, or that of `McpRedisModule`.
   */
  store?: SessionStore;
}

/** Bounds on calls that run at once. A list of calls counts each of them, and is refused as a whole. */
export interface McpCallOptions {
  /** The most calls at a time; past it, a new one is answered with HTTP 503. Default: 2,048. */
  max?: number;
  /** The most calls of one caller; past it, a new one is answered with HTTP 429. Default: 256. */
  maxPerCaller?: number;
  /** The same for the anonymous callers of one address, or of one IPv6 network (/64). Default: 256. */
  maxPerAddress?: number;
  /**
   * How long a call may take, in milliseconds; 0: no limit. Then its signal fires, and it is answered with an error.
   * `ctx.reportProgress()` restarts the time, and waiting for the client's input does not count. Default: 60,000.
   */
  timeoutMs?: number;
}

/** Methods whose results may carry a cache hint (2026-07-28). */
export type CacheableMethod =
  | 'tools/list'
  | 'prompts/list'
  | 'resources/list'
  | 'resources/templates/list'
  | 'resources/read'
  | 'server/discover'
  | 'interceptors/list';

/** Options of one MCP server. */
export interface McpModuleOptions {
  /** Name of the server, unique in the application; handlers choose it with `server`. */
  name: string;
  /** Version of the server. */
  version: string;
  /** Name for people. */
  title?: string;
  /** Instructions for the model: the purpose of the server. */
  instructions?: string;
  /** Icons that a client may show. */
  icons?: Icon[];
  /** URL of the server's web site. */
  websiteUrl?: string;
  /** The HTTP endpoint, or false for none. Default: `{ path: '/mcp' }`. */
  http?: McpHttpOptions | false;
  /** Whether the process's stdin and stdout carry the protocol too; logs then go to stderr. Default: false. */
  stdio?: boolean;
  /** How 2025-era clients are served over HTTP; over stdio, `reject` alone matters. Default: `sessions`. */
  legacy?: LegacyMode;
  /** Bounds on sessions. */
  sessions?: McpSessionOptions;
  /** Bounds on calls. */
  calls?: McpCallOptions;
  /**
   * How long calls that run when the application closes may take to finish, in milliseconds. Then their signals fire, and
   * they are answered with an error. Default: 10,000.
   */
  shutdownTimeoutMs?: number;
  /** How many entries a list answers with at a time. Default: 1,000. */
  pageSize?: number;
  /** Cache hints for results (2026-07-28). Default: not cacheable, but `interceptors/list` for 5 seconds, in both eras. */
  cache?: Partial<Record<CacheableMethod, CacheHint>>;
  /**
   * Capabilities to declare although no handler needs them at start, because handlers are added at run time.
   * Default: the capabilities that the handlers need.
   */
  capabilities?: DeclaredCapabilities;
  /** The application's interceptors: where they run, and with which policy. */
  interceptors?: McpInterceptorOptions;
  /** Calls with several rounds: what they remember, and their bounds. */
  mrtr?: McpMrtrOptions;
  /** Carries changes and resource updates to the other nodes of the server. Default: none, or that of `McpRedisModule`. */
  bus?: MessageBus;
}

/** Makes the options of a server, for `forRootAsync({ useClass })` and `useExisting`. */
export interface McpOptionsFactory {
  /** The options of one server; called once, while the application starts. */
  createMcpOptions(): McpModuleOptions | Promise<McpModuleOptions>;
}

/** `forRootAsync` takes one of `useFactory`, `useClass` and `useExisting`. */
export interface McpModuleAsyncOptions {
  /** Modules that export what the options are made of. Default: none. */
  imports?: ModuleMetadata['imports'];
  /** Providers that the server passes to `useFactory`. */
  inject?: (InjectionToken | OptionalFactoryDependency)[];
  /** Makes the options. */
  useFactory?: (...dependencies: never[]) => McpModuleOptions | Promise<McpModuleOptions>;
  /** A class that makes the options; it is provided here. */
  useClass?: Type<McpOptionsFactory>;
  /** A provider of one of the `imports` that makes the options. */
  useExisting?: InjectionToken<McpOptionsFactory>;
  /** Decorators for the route itself; see `McpHttpOptions.decorators`. Default: none. */
  decorators?: ClassDecorator[];
}

/** Options of `McpModule.forFeature`. */
export interface McpFeatureOptions {
  /** Name of the server that the handlers belong to. Default: the first server. */
  server?: string;
}

export type ResolvedHttpOptions = Readonly<
  Required<Omit<McpHttpOptions, 'version' | 'decorators'>> & Pick<McpHttpOptions, 'version'>
>;

/** Options with every default filled in. */
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
  readonly pageSize: number;
  readonly cache: Partial<Record<CacheableMethod, CacheHint>>;
  readonly capabilities: DeclaredCapabilities;
  readonly interceptors: InterceptorSettings;
  readonly mrtr: MrtrSettings;
  readonly bus?: MessageBus;
}
