import type { PriorityHint } from './protocol/types.js';

/** What the application decides for one interceptor, over what its author declared. */
export interface InterceptorOverride {
  failOpen?: boolean;
  /** Replaces the declared priority whole. */
  priority?: PriorityHint;
  /** `audit` to `active` is one word here, and no change of code. */
  mode?: 'active' | 'enforce' | 'audit';
  /** Milliseconds. */
  timeoutMs?: number;
  /** A subset of the declared hooks. */
  hooks?: { events: string[]; phase: 'request' | 'response' | 'both' }[];
  /** Configuration, checked against the `configSchema`. */
  config?: Record<string, unknown>;
}

/** The `interceptors` option of a server. */
export interface McpInterceptorOptions {
  /** Whether the application's interceptors run around this server's own traffic. Default: true. */
  apply?: boolean;
  /** Whether they are served to others with `interceptors/list` and `interceptor/invoke`. Default: false. */
  expose?: boolean;
  /** By `name` or `host/name` (this application is the host `local`). */
  overrides?: Record<string, InterceptorOverride>;
  /** What the chain may take for one message, in milliseconds. Default: 10,000. */
  timeoutMs?: number;
  /** Configuration by name; it wins over an override's. */
  config?: Record<string, Record<string, unknown>>;
  /** How a refused `tools/call` is answered: a JSON-RPC error, or a result with `isError`. Default: `error`. */
  denial?: 'error' | 'tool-error';
  /** Whether what validators only warn of is passed to the caller in the result's `_meta`. Default: false. */
  warnings?: boolean;
}

/** The option with every default filled in. */
export type InterceptorSettings = Readonly<Required<McpInterceptorOptions>>;

export const DEFAULT_INTERCEPTOR_SETTINGS: InterceptorSettings = {
  apply: true,
  expose: false,
  overrides: {},
  timeoutMs: 10_000,
  config: {},
  denial: 'error',
  warnings: false,
};
