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

/** The latest of what clients hold open, the latest first; at most 100. */
export interface OpenList {
  readonly rows: readonly OpenRow[];
  /** The number of further ones. */
  readonly more: number;
}

export interface OpenRow {
  /** The caller's principal, or the address of an anonymous caller. */
  readonly caller: string;
  /** The beginning of the id of the session. Absent for a stream of revision 2026-07-28. */
  readonly session?: string;
  readonly revision?: string;
  /** ISO 8601. */
  readonly since: string;
  /** Of a session, from its client; of a stream, to its client. ISO 8601. */
  readonly lastMessageAt?: string;
}

export interface LiveServer {
  readonly server: string;
  /** Counts of open items of clients, by a name for operators, such as `calls`, `inputRequests`, `sessions`, `streams`. */
  readonly open: Readonly<Record<string, number>>;
  /** Sessions and streams over HTTP. */
  readonly lists: Readonly<Record<'sessions' | 'streams', OpenList>>;
  /** What each caller has open, by the names of `open`. Anonymous callers count by address. */
  readonly callers: readonly { readonly caller: string; readonly open: Readonly<Record<string, number>> }[];
  /** Calls and errors in each period of 5 seconds, the oldest first, without requests of the explorer. */
  readonly traffic: readonly { readonly calls: number; readonly errors: number }[];
  /** HTTP requests that were refused before they were read as calls, by status. */
  readonly refusals: Readonly<Record<string, number>>;
}
