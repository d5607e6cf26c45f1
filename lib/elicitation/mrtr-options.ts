import type { MrtrStore } from '../stores/mrtr-store.js';
import { COUNT, FLAG, listOf, objectOf, oneOf, type OptionSchema, TIME } from '../options/option-schema.js';
import { hasMethods } from '../util/values.js';

/** The reaction to a recorded answer whose input request has changed. */
export type OnMismatch = 'reask' | 'error';

/** Bounds on calls that wait for an answer (revision 2025-11-25 or earlier). Such calls stay in memory. */
export interface McpSuspensionOptions {
  /** Maximum open input requests and waiting calls of one session or stdio connection. Default: 16. */
  maxPerSession?: number;
  /** Maximum for all sessions of one caller, and of the anonymous callers of one address. Default: 100. */
  maxPerCaller?: number;
  /** Maximum for all sessions. Default: 1,000. */
  maxTotal?: number;
  /** Deadline for an answer, in milliseconds; the client's progress restarts it. Default: 600,000. */
  idleTimeoutMs?: number;
}

/** The `mrtr` option of a server: multi round-trip requests (2026-07-28: basic/patterns/mrtr). */
export interface McpMrtrOptions {
  /** Signs the state; at least 32 bytes, the same on every node. Default: a random secret, lost at a restart. */
  secret?: string | Uint8Array;
  /** Replaces `secret` during a rotation: the first secret signs, and all are accepted. */
  secrets?: (string | Uint8Array)[];
  /** Deadline for the client to finish a round, in seconds. Default: 600. */
  ttlSeconds?: number;
  /**
   * Encrypts the state of a call (AES-256-GCM), whether the client or the `store` keeps it, and refuses a state that is
   * not encrypted. Default: false.
   */
  encrypt?: boolean;
  /** The largest state that the client carries, in bytes; larger ones go to the `store`. Default: 16,384. */
  maxStateBytes?: number;
  /** The largest state of a call, in bytes of JSON. Default: 1,048,576. */
  maxJournalBytes?: number;
  /**
   * Keeps states that are too large for the client, and records used states. Default: none, or the store of
   * `McpRedisModule`.
   */
  store?: MrtrStore;
  /** Whether a state can be used only once; needs a `store`. Default: false. */
  singleUse?: boolean;
  /** The most rounds of one call. Default: 10. */
  maxRounds?: number;
  /** If an input request has changed: ask again, or end the call. Default: `error`; in production (`NODE_ENV`) `reask`. */
  onMismatch?: OnMismatch;
  /** Bounds on calls that wait for an answer (revision 2025-11-25 or earlier). Default: see its fields. */
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

const SECRET: OptionSchema = {
  accepts: (value: unknown) =>
    (typeof value === 'string' || value instanceof Uint8Array) &&
    Buffer.byteLength(value) >= MIN_SECRET_BYTES,
  description: `a secret of at least ${MIN_SECRET_BYTES} bytes; make one with \`openssl rand -base64 32\``,
};

export const SECRETS = objectOf<Pick<McpMrtrOptions, 'secret' | 'secrets'>>(
  { secret: SECRET, secrets: listOf(SECRET, 'a list of secrets') },
  {
    problem: ({ secret, secrets }: McpMrtrOptions, name) =>
      secret !== undefined && secrets !== undefined
        ? `${name()} takes either "secret" or "secrets"`
        : undefined,
  },
);

export const SUSPENSION = objectOf<McpSuspensionOptions, Required<McpSuspensionOptions>>({
  maxPerSession: { ...COUNT, default: 16 },
  maxPerCaller: { ...COUNT, default: 100 },
  maxTotal: { ...COUNT, default: 1000 },
  idleTimeoutMs: { ...TIME, default: 600_000 },
});

export type FilledMrtr = Omit<MrtrSettings, 'secrets' | 'onMismatch'> & McpMrtrOptions;

export const MRTR = objectOf<McpMrtrOptions, FilledMrtr>(
  {
    ...SECRETS.properties,
    ttlSeconds: { ...COUNT, maximum: 30 * 24 * 3600, default: 600 },
    encrypt: { ...FLAG, default: false },
    maxStateBytes: { ...COUNT, default: 16_384 },
    maxJournalBytes: { ...COUNT, default: 1_048_576 },
    store: { accepts: hasMethods('set', 'get', 'claim'), description: 'an object with set, get and claim' },
    singleUse: { ...FLAG, default: false },
    maxRounds: { ...COUNT, default: 10 },
    onMismatch: oneOf('error', 'reask'),
    suspension: { ...SUSPENSION, default: {} },
  },
  {
    problem: SECRETS.problem,
  },
);

export function resolveMrtr({ secret, secrets, ...options }: FilledMrtr): MrtrSettings {
  const onMismatch = process.env['NODE_ENV'] === 'production' ? 'reask' : 'error';
  return { onMismatch, ...options, secrets: secretsOf({ secret, secrets }) };
}

/** The first secret signs, and all are accepted. */
export const secretsOf = ({ secret, secrets }: McpMrtrOptions): MrtrSettings['secrets'] =>
  secrets ?? (secret === undefined ? [] : [secret]);
