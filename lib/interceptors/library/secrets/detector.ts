import {
  FUNCTION,
  listOf,
  objectOf,
  oneOf,
  type OptionSchema,
  pick,
  TEXT,
} from '../../../options/option-schema.js';
import { checked } from '../ready-made.js';
import { ENTROPY, EntropyFinder, type EntropyOptions } from './entropy.js';
import { normalise, unescape, View } from './view.js';
import { knownPatterns, SECRET_KINDS, type SecretKind, type SecretPattern } from './patterns.js';

/** Options of `SecretDetector`, and of the interceptors that look for secrets. */
export interface SecretDetectorOptions {
  /** The formats that are looked for. Default: all that are known. */
  readonly kinds?: readonly SecretKind[];
  /** Formats of your own. Their patterns have to match in linear time. */
  readonly patterns?: readonly SecretPattern[];
  /** How secrets of no known format are told by their randomness; `false`: not at all. Default: see `EntropyOptions`. */
  readonly entropy?: EntropyOptions | false;
  /** Texts that are not secrets, such as the keys of examples in documentation. */
  readonly ignore?: readonly RegExp[];
  /** How many levels of base64 or hexadecimal are decoded, 0 to 3. Default: 1. */
  readonly decodeDepth?: number;
}

type FilledDetector = SecretDetectorOptions &
  Required<Pick<SecretDetectorOptions, 'patterns' | 'ignore' | 'decodeDepth'>> & {
    readonly entropy: Required<EntropyOptions> | false;
  };

const REG_EXP: OptionSchema = { instanceOf: RegExp, description: 'a regular expression' };

export const DETECTOR = objectOf<SecretDetectorOptions, FilledDetector>({
  kinds: listOf(oneOf(...SECRET_KINDS), `a list of some of ${SECRET_KINDS.join(', ')}`),
  patterns: {
    ...listOf(
      objectOf<SecretPattern>(
        { kind: TEXT, pattern: REG_EXP, accept: FUNCTION },
        { required: ['kind', 'pattern'] },
      ),
      'a list of { kind, pattern, accept }',
    ),
    default: [],
  },
  entropy: {
    anyOf: [ENTROPY, oneOf(false)],
    default: {},
    description: 'false, or { minLength, base64, hex, gitShas }',
  },
  ignore: { ...listOf(REG_EXP, 'a list of regular expressions'), default: [] },
  decodeDepth: { type: 'integer', minimum: 0, maximum: 3, default: 1 },
});

export const detectorOptions = (options: SecretDetectorOptions): SecretDetectorOptions =>
  pick(options, 'kinds', 'patterns', 'entropy', 'ignore', 'decodeDepth');

/** A secret in a text, and where it stands, in UTF-16 units. */
export interface SecretFinding {
  /** A `SecretKind`, the `kind` of a pattern of your own, or `high-entropy`. */
  readonly kind: string;
  /** Where the text has to be cut so that nothing of the secret is left: the first character of it… */
  readonly start: number;
  /** …and the first that is no longer of it. */
  readonly end: number;
  readonly value: string;
}

export interface FindOptions {
  /** Whether randomness counts. Default: true, where it is not switched off. */
  readonly entropy?: boolean;
  readonly key?: string;
  /** The key of the array or the object that the text or its key stands in. */
  readonly within?: string;
}

/** The name tells this format. Forty hexadecimal digits are rather an object of Git. */
const AWS_SECRET = {
  name: /aws.*secret|secret_?access_?key/i,
  value: /^\s*(?![0-9A-Fa-f]{40}\s*$)[A-Za-z0-9/+]{40}\s*$/,
};
/** How much of the end of a key is looked at: names are short, and a long key may stand over many values. */
const NAME_LENGTH = 64;

/** Escapes within escapes are resolved this often: JSON in a string of JSON in a URL. */
const ESCAPE_LEVELS = 3;

/**
 * Finds credentials despite look-alike characters, escapes (JSON, percent, entities), base64 and hexadecimal.
 * @example
 * ```ts
 * const found = new SecretDetector({ decodeDepth: 2 }).find(text);
 * ```
 */
export class SecretDetector {
  private readonly patterns: readonly SecretPattern[];
  private readonly ignore: readonly RegExp[];
  private readonly entropy: EntropyFinder | undefined;
  private readonly decodeDepth: number;
  private readonly knowsAws: boolean;

  /** @throws RangeError for a number that is out of range, TypeError for any other wrong option */
  constructor(options: SecretDetectorOptions = {}) {
    const { kinds, patterns, entropy, ignore, decodeDepth } = checked('SecretDetector', DETECTOR, options);
    this.patterns = [...patterns.map(searching), ...knownPatterns(kinds)];
    this.ignore = ignore.map(({ source, flags }) => new RegExp(source, flags.replace(/[gy]/g, '')));
    this.entropy = entropy === false ? undefined : new EntropyFinder(entropy);
    this.decodeDepth = decodeDepth;
    this.knowsAws = kinds?.includes('aws-secret-access-key') ?? true;
  }

  /** The secrets of a text, in no particular order; they may overlap, and the same one may be found twice. */
  find(text: string, { entropy = true, key = '', within = '' }: FindOptions = {}): SecretFinding[] {
    const findings = [...this.search(text, entropy ? this.entropy : undefined, this.decodeDepth)];
    const name = `${within.slice(-NAME_LENGTH)}.${key.slice(-NAME_LENGTH)}`;
    if (this.knowsAws && AWS_SECRET.value.test(text) && AWS_SECRET.name.test(name)) {
      findings.push({ kind: 'aws-secret-access-key', value: text.trim(), start: 0, end: text.length });
    }
    return findings;
  }

  *readings(text: string, depth = this.decodeDepth): Generator<string> {
    for (const view of forms(text)) {
      yield view.text;
      if (depth === 0) continue;
      for (const run of encodedRuns(view.text)) {
        for (const reading of run.readings) yield* this.readings(reading, depth - 1);
      }
    }
  }

  private *search(text: string, entropy: EntropyFinder | undefined, depth: number): Generator<SecretFinding> {
    for (const view of forms(text)) {
      const at = (start: number, end: number) => {
        const [from, to] = view.source(start, end);
        return { start: from, end: to };
      };
      const known = [...this.match(view.text)];
      for (const { kind, start, value } of known) {
        yield { kind, value, ...at(start, start + value.length) };
      }
      for (const { start, value } of entropy?.find(blank(view.text, known)) ?? []) {
        if (!this.isIgnored(value)) {
          yield { kind: 'high-entropy', value, ...at(start, start + value.length) };
        }
      }
      if (depth === 0) continue;
      for (const run of encodedRuns(view.text)) {
        for (const reading of run.readings) {
          for (const { kind, value } of this.search(reading, entropy, depth - 1)) {
            yield { kind, value, ...at(run.start, run.end) };
          }
        }
      }
    }
  }

  private *match(text: string): Generator<{ kind: string; start: number; value: string }> {
    for (const { kind, pattern, accept } of this.patterns) {
      for (const { 0: match, index, groups } of text.matchAll(pattern)) {
        const value = groups?.secret ?? (groups?.lead ?? '') + match;
        if (value === '' || accept?.(value) === false || this.isIgnored(value)) continue;
        const start =
          groups?.secret === undefined ? index + match.length - value.length : index + match.indexOf(value);
        yield { kind, start, value };
      }
    }
  }

  private isIgnored(value: string): boolean {
    return this.ignore.some(pattern => pattern.test(value));
  }
}

function* forms(text: string): Generator<View> {
  let view = normalise(View.of(text));
  yield view;
  for (let level = 0; level < ESCAPE_LEVELS; level++) {
    const next = normalise(unescape(view));
    if (next === view) return;
    yield (view = next);
  }
}

function blank(text: string, known: readonly { start: number; value: string }[]): string {
  let blanked = '';
  for (const { start, value } of [...known].sort((a, b) => a.start - b.start)) {
    const from = Math.max(start, blanked.length);
    const end = Math.max(start + value.length, from);
    blanked += text.slice(blanked.length, from) + ' '.repeat(end - from);
  }
  return blanked + text.slice(blanked.length);
}

function searching({ pattern, ...rest }: SecretPattern): SecretPattern {
  const flags = pattern.flags.replace('y', '');
  return { ...rest, pattern: new RegExp(pattern.source, flags.includes('g') ? flags : `${flags}g`) };
}

export interface EncodedRun {
  readonly start: number;
  readonly end: number;
  /** The possible texts of an encoded value, one for each alignment. */
  readonly readings: readonly string[];
}

const BASE64 = /[A-Za-z0-9+/_-][A-Za-z0-9+/_\-\r\n]{18,}={0,2}/g;
const HEX = /[0-9A-Fa-f]{32,}/g;
/** Random bytes hardly ever read as this many characters of text in a row. */
const READABLE = /(?:[\t\n\r\0]|[^\p{Cc}\ufffd]){16}/u;

/** The runs that may be base64, standard or URL-safe, or hexadecimal, and read as text. */
export function* encodedRuns(text: string): Generator<EncodedRun> {
  for (const [pattern, encoding, unit] of [
    [BASE64, 'base64', 4],
    [HEX, 'hex', 2],
  ] as const) {
    for (const { 0: run, index } of text.matchAll(pattern)) {
      const plain = run.replace(/[\r\n]+/g, '');
      const readings = Array.from({ length: unit }, (_, skip) =>
        Buffer.from(plain.slice(skip), encoding).toString('utf8'),
      ).filter(reading => READABLE.test(reading));
      if (readings.length > 0) yield { start: index, end: index + run.length, readings };
    }
  }
}
