import { COUNT, FLAG, listOf, objectOf, oneOf, TIME, type OptionSchema } from '../options/option-schema.js';
import { hasMethods } from '../util/values.js';
import {
  MIN_SECRET_BYTES,
  type McpMrtrOptions,
  type McpSuspensionOptions,
  type MrtrSettings,
} from './mrtr-options.js';

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
    problem: (options: McpMrtrOptions, name) =>
      options.singleUse === true && options.store === undefined
        ? `${name('singleUse')} needs a ${name('store')} to note what was used`
        : SECRETS.problem?.(options as never, name),
  },
);

export function resolveMrtr({ secret, secrets, ...options }: FilledMrtr): MrtrSettings {
  const onMismatch = process.env['NODE_ENV'] === 'production' ? 'reask' : 'error';
  return { onMismatch, ...options, secrets: secretsOf({ secret, secrets }) };
}

/** The first signs, all are accepted. */
export const secretsOf = ({ secret, secrets }: McpMrtrOptions): MrtrSettings['secrets'] =>
  secrets ?? (secret === undefined ? [] : [secret]);
