import type { MrtrStore } from './state/mrtr-store.js';

/** What to do with a recorded answer to a question that has changed since. */
export type OnMismatch = 'reask' | 'error';

/** Bounds on calls of 2025-era clients that wait for an answer and stay in memory meanwhile. */
export interface McpSuspensionOptions {
  /** The most open questions and waiting calls of one session or stdio connection. Default: 16. */
  maxPerSession?: number;
  /** The most of all sessions together. Default: 1,000. */
  maxTotal?: number;
  /** How long an answer may take, in milliseconds; the client's progress restarts the time. Default: 600,000. */
  idleTimeoutMs?: number;
}

/** The `mrtr` option of a server: multi round-trip requests (2026-07-28: basic/patterns/mrtr). */
export interface McpMrtrOptions {
  /** Signs the state; at least 32 bytes, the same on every node. Default: random, lost at a restart. */
  secret?: string | Uint8Array;
  /** Instead of `secret`, during a rotation: the first signs, all are accepted. */
  secrets?: (string | Uint8Array)[];
  /** How long the client may take for a round, in seconds. Default: 600. */
  ttlSeconds?: number;
  /** Encrypts the state that the client carries (AES-256-GCM). Default: false. */
  encrypt?: boolean;
  /** The largest state that the client carries, in bytes; larger ones go to the `store`. Default: 16,384. */
  maxStateBytes?: number;
  /** The largest state of a call, in bytes of JSON. Default: 1,048,576. */
  maxJournalBytes?: number;
  /** Keeps states that are too large for the client, and notes used ones. Default: none. */
  store?: MrtrStore;
  /** Whether a state can be used only once; needs a `store`. Default: false. */
  singleUse?: boolean;
  /** The most rounds of one call. Default: 10. */
  maxRounds?: number;
  /** If a question has changed: ask again, or end the call. Default: `error`; in production (`NODE_ENV`) `reask`. */
  onMismatch?: OnMismatch;
  /** Bounds on calls of 2025-era clients that wait for an answer. Default: see its fields. */
  suspension?: McpSuspensionOptions;
}

export interface MrtrSettings extends Readonly<
  Required<Omit<McpMrtrOptions, 'secret' | 'secrets' | 'store' | 'suspension'>>
> {
  readonly secrets: readonly (string | Uint8Array)[];
  readonly store?: MrtrStore;
  readonly suspension: Readonly<Required<McpSuspensionOptions>>;
}

export const MIN_SECRET_BYTES = 32;
