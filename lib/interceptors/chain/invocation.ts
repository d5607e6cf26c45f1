import type { Direction, InvocationContext, Phase } from '../protocol/types.js';
import type { ChainResult } from './result.js';

export interface Invocation {
  readonly name: string;
  readonly event: string;
  readonly phase: Phase;
  /** Which way the payload crosses the boundary. */
  readonly direction: Direction;
  /** The bare params, or the bare result. */
  readonly payload: unknown;
  /** In the response phase, the payload of the request. */
  readonly request?: unknown;
  /** The interceptor's configuration; absent where it has none. */
  readonly config?: Readonly<Record<string, unknown>>;
  readonly context?: InvocationContext;
  readonly protocolVersion?: string;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  /** Shared by this process's interceptors along one exchange. */
  readonly bag: Map<unknown, unknown>;
  /** For a sink: what the chain came to. */
  readonly report?: ChainResult;
}
