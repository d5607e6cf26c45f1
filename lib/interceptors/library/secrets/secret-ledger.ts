import { createHmac, randomBytes, randomInt } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { COUNT, FUNCTION, objectOf } from '../../../options/option-schema.js';
import { checked } from '../ready-made.js';
import { PerInvoker } from '../sessions.js';
import { fold } from './view.js';

/** Finds positions where a text may contain strings of one length (Rabin-Karp). A random base defeats crafted texts. */
export class RollingHash {
  private readonly base = randomInt(2 ** 30, 2 ** 31) * 2 + 1;

  of(text: string): number {
    let hash = 0;
    for (let index = 0; index < text.length; index++) hash = this.push(hash, text.charCodeAt(index));
    return hash;
  }

  *search(text: string, length: number, hashes: ReadonlySet<number>): Generator<number> {
    if (text.length < length) return;
    let power = 1;
    for (let count = 1; count < length; count++) power = Math.imul(power, this.base);
    let hash = this.of(text.slice(0, length));
    for (let at = 0; ; at++) {
      if (hashes.has(hash)) yield at;
      if (at + length >= text.length) return;
      const without = (hash - Math.imul(text.charCodeAt(at), power)) | 0;
      hash = this.push(without, text.charCodeAt(at + length));
    }
  }

  private push(hash: number, unit: number): number {
    return (Math.imul(hash, this.base) + unit) | 0;
  }
}

const MIN_LENGTH = 6;
/** A secret of at least two parts is recognised by each of its parts. */
const PART = 16;
const MAX_PARTS = 256;
/** Keys of one algorithm start with the same bytes. */
const PEM_PREAMBLE = 64;

/**
 * The parts that identify a folded secret. Any 31 characters in a row contain a part. Common beginnings are left out.
 */
export function fingerprintOf(kind: string, secret: string): string[] {
  const folded = fold(core(kind, secret));
  if (folded.length < MIN_LENGTH) return [];
  if (folded.length < 2 * PART) return [folded];
  const parts: string[] = [];
  for (let at = 0; at < folded.length && parts.length < MAX_PARTS; at += PART) {
    const start = Math.min(at, folded.length - PART);
    parts.push(folded.slice(start, start + PART));
  }
  return parts;
}

function core(kind: string, secret: string): string {
  if (kind === 'jwt') {
    const [, payload, signature] = secret.split('.');
    return signature || payload;
  }
  if (kind === 'url-credentials') return secret.slice(secret.indexOf(':') + 1);
  if (kind !== 'private-key') return secret;
  const body = fold(secret.replace(/-----[^-]*-----/g, ''));
  return body.length > 2 * PEM_PREAMBLE ? body.slice(PEM_PREAMBLE) : body;
}

/** Options of `SecretLedger`. */
export interface SecretLedgerOptions {
  /** Maximum sessions, also for each invoker; past it, the least recently used session is forgotten. Default: 1,000. */
  readonly maxSessions?: number;
  /**
   * Maximum secrets in a session; a long secret counts once for every 16 characters. For each secret, the ledger
   * remembers the 16 latest places where it was read. Default: 2,000.
   */
  readonly maxSecrets?: number;
  /** Lifetime of a secret after it was last read, in milliseconds. Default: 3,600,000 (an hour). */
  readonly ttlMs?: number;
  /** The clock, in milliseconds. Default: `Date.now`. */
  readonly now?: () => number;
}

export const SECRET_LEDGER = objectOf<SecretLedgerOptions, Required<SecretLedgerOptions>>({
  maxSessions: { ...COUNT, default: 1000 },
  maxSecrets: { ...COUNT, default: 2000 },
  ttlMs: { ...COUNT, default: 3_600_000 },
  now: { ...FUNCTION, default: Date.now },
});

/** Maximum remembered places where a secret was read. It may only go back to these places. */
const MAX_ORIGINS = 16;

export class SecretLedgerFullError extends Error {}

interface Known {
  readonly length: number;
  readonly rolling: number;
  /** The places where it was read, with the expiry time of each. */
  readonly origins: Map<string, number>;
}

type Session = Map<string, Known>;

/**
 * Remembers where secrets were read, by salted hashes. Guards that share a ledger watch the same boundary.
 * @example
 * ```ts
 * const ledger = new SecretLedger({ ttlMs: 600_000 });
 * const providers = [CrossBoundaryGuard({ ledger })];
 * ```
 */
export class SecretLedger {
  private readonly sessions: PerInvoker<LRUCache<string, Session>>;
  private readonly exchanges = new WeakMap<object, Session>();
  private readonly salt = randomBytes(32);
  private readonly hash = new RollingHash();
  private readonly options: Required<SecretLedgerOptions>;

  /** @throws RangeError for a bound that is not a whole number above 0, TypeError for any other wrong option */
  constructor(options: SecretLedgerOptions = {}) {
    this.options = checked('SecretLedger', SECRET_LEDGER, options);
    const { maxSessions } = this.options;
    // By size, because `max` would allocate memory for all sessions at once.
    this.sessions = new PerInvoker(() => new LRUCache({ maxSize: maxSessions, sizeCalculation: () => 1 }));
  }

  /** @throws SecretLedgerFullError if there are too many secrets */
  record(key: string | object, origin: string, secrets: Iterable<string>): void {
    let session: Session | undefined;
    const { maxSecrets, ttlMs, now } = this.options;
    const expires = now() + ttlMs;
    for (const secret of secrets) {
      session ??= this.session(key) ?? this.keep(key, new Map());
      const digest = this.digest(secret);
      let known = session.get(digest);
      if (known === undefined) {
        if (session.size >= maxSecrets) throw new SecretLedgerFullError('too many secrets were read');
        known = { length: secret.length, rolling: this.hash.of(secret), origins: new Map() };
        session.set(digest, known);
      }
      remember(known.origins, origin, expires);
    }
  }

  originsIn(key: string | object, textsOf: () => readonly string[]): string[][] {
    const session = this.session(key);
    if (!session?.size) return [];
    const texts = textsOf();
    const found = new Map<string, string[]>();
    for (const [length, rolling] of groupByLength(session)) {
      for (const text of texts) {
        for (const at of this.hash.search(text, length, rolling)) {
          const digest = this.digest(text.slice(at, at + length));
          const known = session.get(digest);
          if (known !== undefined) found.set(digest, [...known.origins.keys()]);
        }
      }
    }
    return [...found.values()];
  }

  private session(key: string | object): Session | undefined {
    const session = typeof key === 'string' ? this.sessions.peek(key)?.get(key) : this.exchanges.get(key);
    if (session) this.forget(this.keep(key, session));
    return session;
  }

  private keep(key: string | object, session: Session): Session {
    if (typeof key === 'string') this.sessions.of(key).set(key, session);
    else this.exchanges.set(key, session);
    return session;
  }

  private forget(session: Session): void {
    const now = this.options.now();
    for (const [digest, { origins }] of session) {
      for (const [origin, expires] of origins) if (expires <= now) origins.delete(origin);
      if (origins.size === 0) session.delete(digest);
    }
  }

  private digest(secret: string): string {
    return createHmac('sha256', this.salt).update(secret).digest('base64');
  }
}

/** Moves a place to the end, and drops the oldest place past the bound. */
function remember(origins: Map<string, number>, origin: string, expires: number): void {
  origins.delete(origin);
  origins.set(origin, expires);
  if (origins.size <= MAX_ORIGINS) return;
  const [oldest] = origins.keys();
  origins.delete(oldest);
}

function groupByLength(session: Session): Map<number, Set<number>> {
  const groups = new Map<number, Set<number>>();
  for (const { length, rolling } of session.values()) {
    const group = groups.get(length);
    if (group) group.add(rolling);
    else groups.set(length, new Set([rolling]));
  }
  return groups;
}
