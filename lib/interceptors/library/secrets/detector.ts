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

/** Options of `SecretDetector`, and of the interceptors that search for secrets. */
export interface SecretDetectorOptions {
  /** The formats to search for. Default: all known formats. */
  readonly kinds?: readonly SecretKind[];
  /** Additional formats. Their patterns must match in linear time. */
  readonly patterns?: readonly SecretPattern[];
  /**
   * How to recognise secrets of unknown formats by their randomness; `false` turns it off. Default: see
   * `EntropyOptions`.
   */
  readonly entropy?: EntropyOptions | false;
  /** Findings to ignore, such as example keys in documentation. */
  readonly ignore?: readonly RegExp[];
  /** Levels of base64 or hexadecimal to decode, from 0 to 3. Default: 1. */
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

/** A secret in a text, with its position in UTF-16 units. */
export interface SecretFinding {
  /** A `SecretKind`, the `kind` of an additional pattern, or `high-entropy`. */
  readonly kind: string;
  /** The index of the secret's first character. */
  readonly start: number;
  /** The index after the secret's last character. */
  readonly end: number;
  readonly value: string;
}

export interface FindOptions {
  /** Whether to search by randomness. Default: true, unless it is turned off. */
  readonly entropy?: boolean;
  readonly key?: string;
  /** The key of the array or object that contains the text or its key. */
  readonly within?: string;
}

/** The key tells this format apart. Forty hexadecimal digits are more likely a Git object name. */
const AWS_SECRET = {
  name: /aws.*secret|secret_?access_?key/i,
  value: /^\s*(?![0-9A-Fa-f]{40}\s*$)[A-Za-z0-9/+]{40}\s*$/,
};
/** Characters at the end of a key to search: names are short, and one long key may apply to many values. */
const NAME_LENGTH = 64;

/** Levels of nested escapes to resolve, such as JSON in a JSON string in a URL. */
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

  /** The secrets of a text, in any order. They may overlap, and the same secret may be found twice. */
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
  let view = normalise(new View(text));
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
  /** The possible texts of an encoded value, for each alignment. */
  readonly readings: readonly string[];
}

const BASE64 = /[A-Za-z0-9+/_-][A-Za-z0-9+/_\-\r\n]{18,}={0,2}/g;
const HEX = /[0-9A-Fa-f]{32,}/g;
/** Random bytes hardly ever contain this many text characters in a row. */
const MIN_READABLE = 16;

/** Runs of characters that may be base64 (standard or URL-safe) or hexadecimal, and decode to text. */
export function* encodedRuns(text: string): Generator<EncodedRun> {
  for (const [pattern, encoding, unit] of [
    [BASE64, 'base64', 4],
    [HEX, 'hex', 2],
  ] as const) {
    for (const { 0: run, index } of text.matchAll(pattern)) {
      const plain = run.replace(/[\r\n]+/g, '');
      const readings = Array.from({ length: unit }, (_, skip) =>
        Buffer.from(plain.slice(skip), encoding).toString('utf8'),
      ).filter(isReadable);
      if (readings.length > 0) yield { start: index, end: index + run.length, readings };
    }
  }
}

/** A loop, because the same regular expression takes ten times as long on random bytes. */
function isReadable(decoded: string): boolean {
  let count = 0;
  for (let index = 0; index < decoded.length; index++) {
    const code = decoded.codePointAt(index)!;
    if (code > 0xffff) index++;
    count = isTextCode(code) ? count + 1 : 0;
    if (count === MIN_READABLE) return true;
  }
  return false;
}

/** Neither a control character, except those of texts, nor the replacement character. */
function isTextCode(code: number): boolean {
  if (code < 0x20) return code === 0x00 || code === 0x09 || code === 0x0a || code === 0x0d;
  return code !== 0xfffd && (code < 0x7f || code > 0x9f);
}
