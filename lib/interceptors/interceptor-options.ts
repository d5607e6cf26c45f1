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
  /** Milliseconds. The time of a remote interceptor can only be shortened: its host has a limit of its own. */
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
   * Chooses further servers for each message, by who calls. Callers for whom it returns the same options share a
   * connection; functions, clients and invokers are the same only where they are the same object. Of 100 that are open,
   * the one used longest ago is closed, once no message uses it. Where it throws, nothing passes. Default: none.
   */
  resolveServers?: (
    caller: ChainCaller,
  ) => readonly InterceptorServerOptions[] | Promise<readonly InterceptorServerOptions[]>;
  /** How long what those servers advertise is believed, in milliseconds. Default: `{ ttlMs: 60_000 }`. */
  discovery?: { ttlMs?: number };
  /** By `name` or `host/name` (this application is the host `local`). */
  overrides?: Record<string, InterceptorOverride>;
  /**
   * A JSON or YAML file of `overrides` and `config`, which win over those given here, field by field. It is read at start,
   * and again when it changes; one that is invalid by then, or empty, leaves the old one in force. Default: none.
   */
  policyFile?: string;
  /**
   * What the chain may take for one message, in milliseconds; for all resources of one `subscriptions/listen` together.
   * When it is up, the message is refused, even if the interceptor that it waits for is `failOpen`: keep it longer than the
   * interceptors' own times.
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
