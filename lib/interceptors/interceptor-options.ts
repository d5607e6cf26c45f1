import type { ChainCaller } from './chain-source.js';
import type { WhenRule } from './chain/when.js';
import type { InterceptorServerOptions } from './remote/host-options.js';
import type { PriorityHint } from './protocol/types.js';

export interface InterceptorOverride {
  /** Whether messages pass where the interceptor itself fails. */
  failOpen?: boolean;
  /** Replaces the declared priority whole. */
  priority?: PriorityHint;
  /** `audit` to `active` is one word here, and no change of code. */
  mode?: 'active' | 'enforce' | 'audit';
  /** Milliseconds. The time of a remote interceptor can only be shortened: its host has a separate limit. */
  timeoutMs?: number;
  /** A subset of the declared hooks. */
  hooks?: { events: string[]; phase: 'request' | 'response' | 'both' }[];
  /** A further condition, beside the author's: a remote interceptor is not asked where it does not hold. */
  when?: WhenRule;
  /** Configuration, checked against the `configSchema`. */
  config?: Record<string, unknown>;
}

/** The `interceptors` option of a server. */
export interface McpInterceptorOptions {
  /** Whether the application's interceptors run around this server's own traffic. Default: true. */
  apply?: boolean;
  /** Whether they are served to others with `interceptors/list` and `interceptor/invoke`. Default: false. */
  expose?: boolean;
  /** MCP servers whose interceptors join the chain: connection settings, a `client`, or an `invoker`. Default: none. */
  servers?: InterceptorServerOptions[];
  /**
   * Chooses further servers for each message, by caller. Callers share a connection if it returns equal options for
   * them; functions, clients and invokers are equal only as the same object. Past 100 open connections, the server closes
   * the least recently used connection, once no message uses it. If it throws, the server refuses the message. Default: none.
   */
  resolveServers?: (
    caller: ChainCaller,
  ) => readonly InterceptorServerOptions[] | Promise<readonly InterceptorServerOptions[]>;
  /** Time that a list of these servers' interceptors is valid, in milliseconds. Default: `{ ttlMs: 60_000 }`. */
  discovery?: { ttlMs?: number };
  /** By `name` or `host/name` (this application is the host `local`). */
  overrides?: Record<string, InterceptorOverride>;
  /**
   * A JSON or YAML file of `overrides` and `config`, which win over the options here, field by field. The server reads it at
   * start, and again when it changes. If the changed file is invalid or empty, the old policy stays in force. Default: none.
   */
  policyFile?: string;
  /**
   * Time limit of the chain for one message, in milliseconds; for all resources of one `subscriptions/listen` together.
   * Past it, the server refuses the message, even if the interceptor that it waits for is `failOpen`. Keep it longer than
   * the times of the interceptors.
   * Default: 10,000.
   */
  timeoutMs?: number;
  /** Configuration by name; it wins over an override's. */
  config?: Record<string, Record<string, unknown>>;
  /** How a refused `tools/call` is answered: a JSON-RPC error, or a result with `isError`. Default: `error`. */
  denial?: 'error' | 'tool-error';
  /** Whether what validators only warn of is passed to the caller in the result's `_meta`. Default: false. */
  warnings?: boolean;
}

export type InterceptorSettings = Readonly<
  Required<Omit<McpInterceptorOptions, 'policyFile' | 'resolveServers'>> &
    Pick<McpInterceptorOptions, 'policyFile' | 'resolveServers'>
>;
