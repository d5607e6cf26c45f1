import type { AuthProvider, OAuthClientProvider } from '@modelcontextprotocol/client';
import type { AuthInfo } from '@modelcontextprotocol/server';
import type { ConnectionOptions } from '../connection/connection-options.js';
import type { McpModuleOptions } from '../server/server-options.js';
import type { McpMrtrOptions } from '../elicitation/mrtr-options.js';

/** How to reach a server behind the gateway. `capabilities` matters only until a client connects. */
export interface GatewayBackend extends ConnectionOptions {
  /**
   * The gateway's own OAuth credentials, for a backend at a `url`: such as a `ClientCredentialsProvider`, or an object whose
   * `token()` exchanges a token. The token of a caller is never sent to a backend. Default: none.
   */
  auth?: AuthProvider | OAuthClientProvider;
  /**
   * Returns the access token for the requests of a caller to a backend at a `url`, such as the result of a token exchange
   * (RFC 8693). An anonymous caller is `undefined`. A token is used again while the caller's own token is cached
   * (`tokenCacheMs` of `McpAuthModule`). The gateway connects and listens with `auth`. An `McpException` is sent to the caller;
   * after any other error, or `connectTimeoutMs`, the caller gets HTTP 503. Default: all requests are sent with `auth`.
   */
  tokenFor?: (caller: AuthInfo | undefined) => string | Promise<string>;
}

/** Bounds on what a gateway holds for its clients. */
export interface GatewayLimits {
  /** The most connections to one backend of revision 2025-11-25 or earlier; more calls are refused. Default: 100. */
  maxConnections?: number;
  /** How long an unused connection without a session lives, in milliseconds. Default: 60,000. */
  idleTimeoutMs?: number;
  /** The most calls that wait for their client's next round. Default: 100. */
  maxSuspended?: number;
  /** How long a call waits, in milliseconds. Default: 300,000 (5 minutes). */
  suspendedTimeoutMs?: number;
  /**
   * How long a call may wait for lists in all, in milliseconds, at most `timeoutMs`. The time in which a user answers does
   * not count. Default: 30,000.
   */
  listTimeoutMs?: number;
  /**
   * With several backends, each serves at most this many calls of one caller at a time; the server answers more with HTTP
   * 429. Calls that wait for its lists count apart, up to the same number. Default: a quarter of the caller's limit
   * (`calls.maxPerCaller`), which is 64.
   */
  maxPerCaller?: number;
}

/** Scopes by the names of tools as clients see them; `git_*` stands for all names that begin with `git_`. */
export type GatewayToolScopes = Record<string, string[]>;

/** Signs the `requestState` of a call, and the ids of tasks. All nodes of a gateway need the same secret. */
export type GatewayMrtrOptions = Pick<McpMrtrOptions, 'secret' | 'secrets'>;

/** The options of `McpModule.forRoot` that a gateway has, too. */
export const SERVER_OPTIONS = [
  'title',
  'instructions',
  'icons',
  'websiteUrl',
  'http',
  'stdio',
  'legacy',
  'sessions',
  'calls',
  'shutdownTimeoutMs',
  'drainMs',
  'interceptors',
] as const;

/** Options of `McpGatewayModule.forRoot`. */
export interface McpGatewayOptions extends Pick<McpModuleOptions, (typeof SERVER_OPTIONS)[number]> {
  /** Name of the gateway, unique in the application. Default: `gateway`, and clients are shown the backend's. */
  name?: string;
  /** Version of the gateway. Default: clients are shown the backend's. */
  version?: string;
  /** Path of the HTTP route, in short for `http: { path }`. Default: `/mcp`. */
  path?: string;
  /** The server behind the gateway. */
  backend?: GatewayBackend;
  /** Several servers by prefix: the tool `search` of `shop` is `shop_search`. URIs stay; the first with a URI keeps it. */
  backends?: Record<string, GatewayBackend>;
  /**
   * Whether `interceptors/list` and `interceptor/invoke` go through to the backend, and its errors to callers as they are.
   * Otherwise, only errors that JSON-RPC or MCP define keep their text. One backend only. Default: false.
   */
  passthrough?: boolean;
  /**
   * The scopes that a caller needs for tools, for a gateway with `McpAuthModule`. Rules that fit the same tool add up. Lists
   * show these tools as `lists` of `McpAuthModule` says. Default: none.
   * @example { 'git_*': ['git:read'], git_push: ['git:write'] }
   */
  toolScopes?: GatewayToolScopes;
  /**
   * How long a backend may take for an answer, in milliseconds; `calls.timeoutMs` is 0 here unless it is given.
   * Default: 3,600,000 (an hour).
   */
  timeoutMs?: number;
  /**
   * Multi round-trip requests, and tasks. Default: a random secret, which survives neither a restart nor a second node.
   */
  mrtr?: GatewayMrtrOptions;
  /** Bounds on what the gateway holds for clients. */
  limits?: GatewayLimits;
}
