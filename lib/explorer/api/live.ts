import type { Era } from './shared.js';

export interface Live {
  /** The latest first; at most 200. No arguments, results or tokens. */
  readonly calls: readonly LiveCall[];
  /** Since the application started. */
  readonly total: number;
  readonly servers: readonly LiveServer[];
}

export interface LiveCall {
  readonly id: number;
  /** ISO 8601. */
  readonly at: string;
  readonly server: string;
  /** `client`: the server asked a client. */
  readonly side: 'server' | 'client';
  readonly method: string;
  /** Name of the handler, if there is one of that name. */
  readonly name?: string;
  readonly era?: Era;
  /** `tool error`: a result with `isError`. `refused`: by a guard, a scope or an interceptor. */
  readonly outcome:
    'ok' | 'asked' | 'tool error' | 'error' | 'refused' | 'cancelled' | 'timeout' | 'shutdown';
  /** The caller's principal: its subject or client. Absent for an anonymous caller. */
  readonly caller?: string;
  /** True for a request of the explorer. */
  readonly isOwn?: boolean;
  /** JSON-RPC code of an error. */
  readonly code?: number;
  readonly durationMs: number;
}

export interface LiveServer {
  readonly server: string;
  /** Counts of open items of clients, by a name for operators, such as `calls`, `inputRequests`, `sessions`, `streams`. */
  readonly open: Readonly<Record<string, number>>;
  /** What each caller has open, by the same names. Anonymous callers count by address. */
  readonly callers: readonly { readonly caller: string; readonly open: Readonly<Record<string, number>> }[];
  /** Calls and errors in each period of 5 seconds, the oldest first, without requests of the explorer. */
  readonly traffic: readonly { readonly calls: number; readonly errors: number }[];
  /** HTTP requests that were refused before they were read as calls, by status. */
  readonly refusals: Readonly<Record<string, number>>;
}
