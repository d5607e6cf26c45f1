import type { ChainCaller } from './chain-source.js';
import type { InterceptorOverride } from './chain/entry.js';
import type { InterceptorServerOptions } from './remote/host-options.js';

/** The `interceptors` option of a server. */
export interface McpInterceptorOptions {
  /** Runs the application's interceptors around this server's own traffic. Default: true. */
  apply?: boolean;
  /**
   * Serves the application's interceptors to clients, with `interceptors/list` and `interceptor/invoke`. Default:
   * false.
   */
  expose?: boolean;
  /** MCP servers whose interceptors join the chain: connection settings, a `client`, or an `invoker`. Default: none. */
  servers?: InterceptorServerOptions[];
  /**
   * Selects further servers for each message by its caller. Callers with the same returned options share a connection;
   * functions, clients and invokers are compared as objects. Past 100 open connections, the server closes the least
   * recently used one when no message uses it. If the function throws, the message is refused. Default: none.
   */
  resolveServers?: (
    caller: ChainCaller,
  ) => readonly InterceptorServerOptions[] | Promise<readonly InterceptorServerOptions[]>;
  /** Lifetime of the advertised interceptors of these servers, in milliseconds. Default: `{ ttlMs: 60_000 }`. */
  discovery?: { ttlMs?: number };
  /** Overrides by `name` or `host/name` (this application is the host `local`). */
  overrides?: Record<string, InterceptorOverride>;
  /**
   * A JSON or YAML file with `overrides` and `config`, relative to the working folder. Its fields replace the fields
   * given here. The server reads it at start and after each change. An invalid or empty new version is ignored, and the
   * earlier policy stays in force.
   * Default: none.
   */
  policyFile?: string;
  /**
   * Deadline for the chain on one message, in milliseconds. All resources of one `subscriptions/listen` share it. At
   * the deadline, the message is refused, even if it waits for a `failOpen` interceptor: keep it longer than the
   * deadlines of the interceptors. Default: 10,000.
   */
  timeoutMs?: number;
  /** Configuration by name; it replaces the configuration of an override. */
  config?: Record<string, Record<string, unknown>>;
  /** Answers a refused `tools/call` with a JSON-RPC error, or with a result with `isError`. Default: `error`. */
  denial?: 'error' | 'tool-error';
  /** Passes the warnings of validators to the caller, in the result's `_meta`. Default: false. */
  warnings?: boolean;
}

export type InterceptorSettings = Readonly<
  Required<Omit<McpInterceptorOptions, 'policyFile' | 'resolveServers'>> &
    Pick<McpInterceptorOptions, 'policyFile' | 'resolveServers'>
>;
