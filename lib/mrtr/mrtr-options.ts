import type { MrtrStore } from './state/mrtr-store.js';

/** What to do with a recorded answer to a question that has changed since. */
export type OnMismatch = 'reask' | 'error';

/** Bounds on calls of 2025-era clients that wait for an answer: only there does a waiting call stay in memory. */
export interface McpSuspensionOptions {
  /**
   * The most that one session, or one stdio connection, keeps waiting at a time: open questions, and calls that only ask to
   * be called again. Default: 16.
   */
  maxPerSession?: number;
  /** The most that all of them together keep waiting. Default: 1,000. */
  maxTotal?: number;
  /** How long an answer may take, in milliseconds; progress of the client starts the time again. Default: 600,000. */
  idleTimeoutMs?: number;
}

/** The `mrtr` option of a server: multi round-trip requests (2026-07-28: basic/patterns/mrtr). */
export interface McpMrtrOptions {
  /**
   * Signs what a call remembers between two rounds; at least 32 bytes, the same on every node. Default: a random one,
   * which does not survive a restart and is another one on every node.
   */
  secret?: string | Uint8Array;
  /** Instead of `secret`, while one replaces another: the first signs, all are accepted. */
  secrets?: (string | Uint8Array)[];
  /** How long the client may take for a round, in seconds. Default: 600. */
  ttlSeconds?: number;
  /** Whether the client is kept from reading what it carries (AES-256-GCM). Default: false. */
  encrypt?: boolean;
  /** The largest state that travels with the client, in bytes; a larger one goes to the `store`. Default: 16,384. */
  maxStateBytes?: number;
  /** The most that a call may remember, in bytes of JSON, wherever it is kept. Default: 1,048,576. */
  maxJournalBytes?: number;
  /** Where states go that are too large to travel, and where used ones are noted. Default: none. */
  store?: MrtrStore;
  /** Whether a state is good for one round only; needs a `store`. Default: false. */
  singleUse?: boolean;
  /** The most rounds of one call. Default: 10. */
  maxRounds?: number;
  /**
   * What becomes of an answer where the question has changed since it was asked: it is asked again, or the call ends
   * with an error. Default: `error`, but `reask` where `NODE_ENV` is `production`.
   */
  onMismatch?: OnMismatch;
  /** Bounds on calls of 2025-era clients that wait for an answer. Default: see its fields. */
  suspension?: McpSuspensionOptions;
}

/** The option with every default filled in. */
export interface MrtrSettings {
  readonly secrets: readonly (string | Uint8Array)[];
  readonly ttlSeconds: number;
  readonly encrypt: boolean;
  readonly maxStateBytes: number;
  readonly maxJournalBytes: number;
  readonly store?: MrtrStore;
  readonly singleUse: boolean;
  readonly maxRounds: number;
  readonly onMismatch: OnMismatch;
  readonly suspension: Readonly<Required<McpSuspensionOptions>>;
}

export const MIN_SECRET_BYTES = 32;
