import type { ConnectionOptions } from '../connection/connection-options.js';
import type { McpModuleOptions } from '../server/server-options.js';
import type { McpMrtrOptions } from '../mrtr/mrtr-options.js';

/**
 * A server that the gateway stands in front of: how to reach it. What its client can do (`capabilities`) matters only
 * before there is a client: a client's own capabilities are handed on.
 */
export type GatewayBackend = ConnectionOptions;

/** Bounds on what a gateway holds for its clients. */
export interface GatewayLimits {
  /**
   * The most connections to one 2025-era backend: one for each 2025-era session, and for other callers as many as they
   * have calls that may ask them something. Past it, a call is refused. Default: 100.
   */
  maxConnections?: number;
  /** How long such a connection lives without a call, where no session owns it, in milliseconds. Default: 60,000. */
  idleTimeoutMs?: number;
  /** The most calls that wait for their client's next round. Default: 100. */
  maxSuspended?: number;
  /** How long one waits, in milliseconds. Default: 300,000 (5 minutes). */
  suspendedTimeoutMs?: number;
  /** How long a backend may take for a page of a list, in milliseconds, if `timeoutMs` is not less. Default: 30,000. */
  listTimeoutMs?: number;
}

/**
 * What signs the `requestState` of a call, so that it is good for its own caller, tool and arguments alone. All nodes of a
 * gateway need the same.
 */
export type GatewayMrtrOptions = Pick<McpMrtrOptions, 'secret' | 'secrets'>;

/** Options of `McpGatewayModule.forRoot`: those of a server that concern a gateway, and what is behind it. */
export interface McpGatewayOptions extends Pick<
  McpModuleOptions,
  | 'title'
  | 'instructions'
  | 'icons'
  | 'websiteUrl'
  | 'http'
  | 'stdio'
  | 'legacy'
  | 'sessions'
  | 'shutdownTimeoutMs'
  | 'interceptors'
> {
  /** Name of the gateway, unique in the application. Default: `gateway`, and clients are shown the backend's. */
  name?: string;
  /** Version of the gateway. Default: clients are shown the backend's. */
  version?: string;
  /** Path of the HTTP route, in short for `http: { path }`. Default: `/mcp`. */
  path?: string;
  /** The server behind it. */
  backend?: GatewayBackend;
  /**
   * Several servers behind it, each with a prefix of its own: the tool `search` of the backend `shop` is `shop_search`.
   * Prompts alike; resources keep their URIs, and one that two backends have is refused.
   */
  backends?: Record<string, GatewayBackend>;
  /** Whether `interceptors/list` and `interceptor/invoke` go through to the backend. One backend only. Default: false. */
  passthrough?: boolean;
  /**
   * How long a backend may take for an answer, in milliseconds.
   * Default: 3,600,000 (an hour); clients cancel on their own before that.
   */
  timeoutMs?: number;
  /** Multi round-trip requests. Default: a random secret, which survives neither a restart nor a second node. */
  mrtr?: GatewayMrtrOptions;
  /** Bounds on what is held for clients. */
  limits?: GatewayLimits;
}
