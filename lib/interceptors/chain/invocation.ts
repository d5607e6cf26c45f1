import type { Direction, InvocationContext, Phase } from '../protocol/types.js';
import type { ChainResult } from './result.js';

export interface Invocation {
  readonly name: string;
  readonly event: string;
  readonly phase: Phase;
  readonly direction: Direction;
  readonly payload: unknown;
  readonly request?: unknown;
  readonly config?: Readonly<Record<string, unknown>>;
  readonly context?: InvocationContext;
  readonly protocolVersion?: string;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  readonly bag: Map<unknown, unknown>;
  readonly report?: ChainResult;
}
