import type { ConnectionOptions } from '../../connection/connection-options.js';
import type { InterceptorClient, InterceptorInvoker } from './invoker.js';

/** Selects the parts of a message that a remote host receives. Other parts never leave this process. */
export interface HostSendOptions {
  /**
   * Parts of the payload to send, as JSON Pointers: `['/name', '/arguments/query']`. The host's mutators may only
   * change these parts. Default: all.
   */
  payload?: string[];
  /** Parts of the context to send. Default: all. */
  context?: ('principal' | 'claims' | 'trace' | 'session' | 'timestamp')[];
  /** Names of the caller's HTTP headers, sent as `_meta['nestjs-mcp/headers']`. Default: none. */
  headers?: string[];
}

/** The treatment of a host that is slow, unavailable or dishonest. */
export interface HostPolicy {
  /** The parts of a message to send. Default: the payload and the context. */
  send?: HostSendOptions;
  /** Maximum invocations at a time; further invocations fail at once. Default: 64. */
  maxConcurrent?: number;
  /** Maximum interceptors that the host may advertise. Default: 1,000. */
  maxInterceptors?: number;
  /** The largest accepted result, in bytes of JSON. Default: 8 MiB (8,388,608). */
  maxResultBytes?: number;
  /** Lifetime of a listing, in milliseconds. Default: the `discovery.ttlMs` of the server, otherwise 60,000. */
  ttlMs?: number;
  /** Deadline for listing the host's interceptors, in milliseconds. Default: 5,000. */
  discoveryTimeoutMs?: number;
  /**
   * The circuit breaker. It opens if `errorPercentage` of at least `volume` invocations within ten seconds failed.
   * Invocations then fail at once for `resetMs` milliseconds; after that, one invocation tests the host. Default:
   * `{ errorPercentage: 50, volume: 5, resetMs: 10_000 }`.
   */
  breaker?: { errorPercentage?: number; volume?: number; resetMs?: number };
  /** Accepts messages without this host's interceptors while it cannot be listed. Default: false. */
  skipWhenUnlisted?: boolean;
}

/** A connected client, or a replacement for a client. */
export type ReachableHost =
  | {
      /** A connected SDK `Client`. The application closes it. This module sets its handler for changed interceptors. */
      client: InterceptorClient;
    }
  | {
      /** Any other way to reach the host. */
      invoker: InterceptorInvoker;
    };

/** A host of interceptors for `InterceptorChain`. */
export type InterceptorHost = HostPolicy & {
  /** Unique in the chain: reports and overrides name an interceptor `host/name`. */
  name: string;
} & ReachableHost;

/** A host of interceptors for the option `interceptors.servers`. It may also have connection settings. */
export type InterceptorServerOptions = HostPolicy & {
  /** Unique in the chain: reports and overrides name an interceptor `host/name`. */
  name: string;
  /** Separates connections with equal options in `resolveServers`, for example for each tenant. Default: none. */
  connectionId?: string;
} & (ReachableHost | ConnectionOptions);
