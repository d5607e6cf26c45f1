import { MAX_TIMER_MS } from '../constants.js';
import type { Check } from '../option-check.js';
import { isRecord } from '../schema/plain-json.js';
import { MIN_SECRET_BYTES, type McpMrtrOptions, type MrtrSettings } from './mrtr-options.js';

const MAX_TTL_SECONDS = 30 * 24 * 3600;

const KNOWN: readonly (keyof McpMrtrOptions)[] = [
  'secret',
  'secrets',
  'ttlSeconds',
  'encrypt',
  'maxStateBytes',
  'maxJournalBytes',
  'store',
  'singleUse',
  'maxRounds',
  'onMismatch',
  'suspension',
];
const DEFAULT_SUSPENSION = {
  maxPerSession: 16,
  maxTotal: 1000,
  idleTimeoutMs: 600_000,
};

/**
 * Checks the `mrtr` option of a server, and fills in its defaults.
 * @throws whatever `check` throws, for an option that is unknown or out of range
 */
export function resolveMrtr(mrtr: McpMrtrOptions = {}, check: Check): MrtrSettings {
  check(isRecord(mrtr), '"mrtr" must be an object');
  check.known(mrtr, KNOWN, 'mrtr');
  const {
    secret,
    secrets = secret === undefined ? [] : [secret],
    ttlSeconds = 600,
    encrypt = false,
    maxStateBytes = 16_384,
    maxJournalBytes = 1_048_576,
    store,
    singleUse = false,
    maxRounds = 10,
    onMismatch = process.env['NODE_ENV'] === 'production' ? 'reask' : 'error',
    suspension = {},
  } = mrtr;
  check(secret === undefined || mrtr.secrets === undefined, '"mrtr" takes either "secret" or "secrets"');
  check(
    Array.isArray(secrets) && secrets.every(isSecret),
    `"mrtr.secret" must have at least ${MIN_SECRET_BYTES} bytes; make one with \`openssl rand -base64 32\``,
  );
  check.count(ttlSeconds, 'mrtr.ttlSeconds', MAX_TTL_SECONDS);
  check.count(maxStateBytes, 'mrtr.maxStateBytes');
  check.count(maxJournalBytes, 'mrtr.maxJournalBytes');
  check.count(maxRounds, 'mrtr.maxRounds');
  for (const [name, value] of Object.entries({ encrypt, singleUse })) {
    check(typeof value === 'boolean', `"mrtr.${name}" must be true or false`);
  }
  check(
    store === undefined ||
      (isRecord(store) && ['set', 'get', 'claim'].every(name => typeof store[name as 'get'] === 'function')),
    '"mrtr.store" must be an object with set, get and claim',
  );
  check(!singleUse || store !== undefined, '"mrtr.singleUse" needs a "mrtr.store" to note what was used');
  check(onMismatch === 'error' || onMismatch === 'reask', '"mrtr.onMismatch" must be "error" or "reask"');
  check(isRecord(suspension), '"mrtr.suspension" must be an object');
  check.known(suspension, Object.keys(DEFAULT_SUSPENSION), 'mrtr.suspension');
  const limits = { ...DEFAULT_SUSPENSION, ...suspension };
  check.count(limits.maxPerSession, 'mrtr.suspension.maxPerSession');
  check.count(limits.maxTotal, 'mrtr.suspension.maxTotal');
  check.count(limits.idleTimeoutMs, 'mrtr.suspension.idleTimeoutMs', MAX_TIMER_MS);
  return {
    secrets,
    ttlSeconds,
    encrypt,
    maxStateBytes,
    maxJournalBytes,
    ...(store && { store }),
    singleUse,
    maxRounds,
    onMismatch,
    suspension: limits,
  };
}

const isSecret = (value: unknown): boolean =>
  (typeof value === 'string' || value instanceof Uint8Array) && Buffer.byteLength(value) >= MIN_SECRET_BYTES;
