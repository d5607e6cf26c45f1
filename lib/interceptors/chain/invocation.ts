import type { Direction, InvocationContext, Phase } from '../protocol/types.js';
import type { ChainResult } from './result.js';

/** One invocation of one interceptor, wherever it runs. */
export interface Invocation {
  /** The interceptor's name. */
  readonly name: string;
  /** The event, such as `tools/call`. */
  readonly event: string;
  /** Which hook of the event it is. */
  readonly phase: Phase;
  /** Which way the payload crosses the boundary. */
  readonly direction: Direction;
  /** The bare params, or the bare result. */
  readonly payload: unknown;
  /** In the response phase, the payload of the request. */
  readonly request?: unknown;
  /** The interceptor's configuration; absent where it has none. */
  readonly config?: Readonly<Record<string, unknown>>;
  /** Who calls, in which session and trace, where that is known. */
  readonly context?: InvocationContext;
  /** The negotiated revision, where it is known. */
  readonly protocolVersion?: string;
  /** Fires when the invocation is given up. */
  readonly signal: AbortSignal;
  /** How long the invocation may take, in milliseconds. */
  readonly timeoutMs: number;
  /** Shared by this process's interceptors along one exchange. */
  readonly bag: Map<unknown, unknown>;
  /** For a sink: what the chain came to. */
  readonly report?: ChainResult;
}
