import type { ConnectionOptions } from '../../connection/connection-options.js';
import type { InterceptorClient, InterceptorInvoker } from './invoker.js';

/** What a remote host is sent of a message; the rest never leaves this process. */
export interface HostSendOptions {
  /** Places to send, as JSON Pointers: `['/name', '/arguments/query']`. Its mutators change only these. Default: all. */
  payload?: string[];
  /** Which parts of the context. Default: all. */
  context?: ('principal' | 'claims' | 'trace' | 'session' | 'timestamp')[];
  /** Names of the caller's HTTP headers, sent as `_meta['nestjs-mcp/headers']`. Default: none. */
  headers?: string[];
}

/** How a host is treated that is slow, dead or lying. */
export interface HostPolicy {
  /** Parts of a message that it gets. Default: the payload and the context. */
  send?: HostSendOptions;
  /** The most invocations at a time; one more fails at once. Default: 64. */
  maxConcurrent?: number;
  /** The most interceptors that it may advertise. Default: 1,000. */
  maxInterceptors?: number;
  /** The largest result that is taken, in bytes as JSON. Default: 8 MiB (8,388,608). */
  maxResultBytes?: number;
  /** How long a listing holds, in milliseconds. Default: the `discovery.ttlMs` of the server, else 60,000. */
  ttlMs?: number;
  /** How long listing it may take, in milliseconds. Default: 5,000. */
  discoveryTimeoutMs?: number;
  /**
   * The circuit breaker: once this share of at least `volume` invocations within ten seconds failed, the next ones fail
   * at once, for `resetMs`; then one is tried. Default: `{ errorPercentage: 50, volume: 5, resetMs: 10_000 }`.
   */
  breaker?: { errorPercentage?: number; volume?: number; resetMs?: number };
  /** Whether messages skip this host's interceptors while the host cannot be listed. Default: false. */
  skipWhenUnlisted?: boolean;
}

/** A connected client, or what stands in for one. */
export type ReachableHost =
  | {
      /** A connected SDK `Client`; the application closes it. Its handler for changed interceptors is set here. */
      client: InterceptorClient;
    }
  | {
      /** Any other way to reach the host. */
      invoker: InterceptorInvoker;
    };

/** A host of interceptors, as `InterceptorChain` takes it. */
export type InterceptorHost = HostPolicy & {
  /** Unique in the chain: reports and overrides name an interceptor `host/name`. */
  name: string;
} & ReachableHost;

/** A host of interceptors, as the option `interceptors.servers` takes it: connection settings will do. */
export type InterceptorServerOptions = HostPolicy & {
  /** Unique in the chain: reports and overrides name an interceptor `host/name`. */
  name: string;
  /** Separates connections with equal options in `resolveServers`, such as one for each tenant. Default: none. */
  connectionId?: string;
} & (ReachableHost | ConnectionOptions);
