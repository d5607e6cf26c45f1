import type { Type } from '@nestjs/common';
import { Mutator } from '../decorators/interceptor.decorators.js';
import { objectOf } from '../../options/option-schema.js';
import type { InterceptorInvocation, MutatorReturn } from '../authoring.js';
import { READY_MADE_MUTATOR, readyMade, type ReadyMadeMutatorOptions } from './ready-made.js';
import {
  DETECTOR,
  detectorOptions,
  SecretDetector,
  type SecretDetectorOptions,
  type SecretFinding,
} from './secrets/detector.js';
import { mapTexts, SCAN_LIMITS, type ScanLimits, type TextPlace } from './secrets/scan.js';

/** Options of `SecretRedactor`. Defaults: name `secret-redactor`, all events, both phases. */
export interface SecretRedactorOptions extends ReadyMadeMutatorOptions, SecretDetectorOptions {
  /** The largest payload; a larger payload is blocked. Default: 4,194,304 UTF-16 units of text, see `ScanLimits`. */
  readonly limits?: ScanLimits;
}

export const SECRET_REDACTOR = objectOf<SecretRedactorOptions>({
  ...DETECTOR.properties,
  limits: SCAN_LIMITS,
  ...READY_MADE_MUTATOR,
});

/** The provider that `SecretRedactor` creates. */
export interface SecretRedactorInterceptor {
  /** The mutator method. @throws ScanLimitError for a payload beyond `limits` */
  redact(invocation: InterceptorInvocation): MutatorReturn;
}

/** Fields of the protocol with naturally random characters. They are only searched for known formats. */
const RANDOM_BY_NATURE = new Set(['uri', 'name', 'cursor', 'nextCursor', 'progressToken']);

/**
 * A mutator that replaces credentials by `[REDACTED:<kind>]`, and counts them in `info.redacted`. It searches values
 * and keys, in the clear or encoded up to `decodeDepth` times. It catches accidents, not callers who hide a secret. It
 * does not change binary data unless the data decodes to text. It blocks a payload beyond `limits`, and a request with
 * a secret in its `name` or `uri`. Let it see requests first and results last.
 *
 * @throws TypeError for an unknown or wrong option
 * @example
 * ```ts
 * providers: [SecretRedactor({ events: ['tools/call'], priority: { request: -1000, response: 1000 } })]
 * ```
 */
export function SecretRedactor(options: SecretRedactorOptions = {}): Type<SecretRedactorInterceptor> {
  const defaults = { name: 'secret-redactor', events: ['*'], phase: 'both' } as const;
  const { own, declared, provider } = readyMade('SecretRedactor', SECRET_REDACTOR, options, defaults);
  const detector = new SecretDetector(detectorOptions(own));

  class Redactor implements SecretRedactorInterceptor {
    @Mutator(declared)
    redact({ payload }: InterceptorInvocation): MutatorReturn {
      const redacted: Record<string, number> = {};
      const changed = mapTexts(
        payload,
        (text, place) => {
          const result = redactText(detector, text, place);
          for (const kind of result.kinds) redacted[kind] = (redacted[kind] ?? 0) + 1;
          return result.text;
        },
        own.limits,
      );
      return changed === payload ? undefined : { modified: true, payload: changed, info: { redacted } };
    }
  }
  return provider(Redactor);
}

/** Removes the secrets that a detector finds from a text, and returns their kinds. */
export function redactText(
  detector: SecretDetector,
  text: string,
  { key, within, isKey, isProtocol, binary }: TextPlace,
): { text: string; kinds: readonly string[] } {
  if (binary === 'bytes') {
    // A short text is probably not an image: a key may look like base64.
    return text.length > 4096
      ? { text, kinds: [] }
      : redactFindings(text, detector.find(text, { entropy: false }));
  }
  if (binary === 'text') {
    const decoded = Buffer.from(text, 'base64').toString('utf8');
    const inner = redactFindings(decoded, detector.find(decoded));
    return inner.kinds.length === 0
      ? { text, kinds: [] }
      : { ...inner, text: Buffer.from(inner.text).toString('base64') };
  }
  const entropy = !(isProtocol && key !== undefined && RANDOM_BY_NATURE.has(key));
  return redactFindings(text, detector.find(text, { entropy, ...(!isKey && { key, within }) }));
}

const placeholder = (kind: string): string => `[REDACTED:${kind}]`;

export function redactFindings(
  text: string,
  findings: readonly SecretFinding[],
): { readonly text: string; readonly kinds: readonly string[] } {
  const cuts = merge(findings);
  let copied = 0;
  let redacted = '';
  for (const { kind, start, end } of cuts) {
    redacted += text.slice(copied, start) + placeholder(kind);
    copied = end;
  }
  return { text: redacted + text.slice(copied), kinds: cuts.map(({ kind }) => kind) };
}

/** Merges overlapping findings into one cut, named after the most specific kind. */
function merge(findings: readonly SecretFinding[]): { kind: string; start: number; end: number }[] {
  const cuts: { kind: string; start: number; end: number }[] = [];
  for (const { kind, start, end } of [...findings].sort((a, b) => a.start - b.start)) {
    const last = cuts.at(-1);
    if (last === undefined || start >= last.end) cuts.push({ kind, start, end });
    else {
      last.end = Math.max(last.end, end);
      if (last.kind === 'high-entropy') last.kind = kind;
    }
  }
  return cuts;
}
