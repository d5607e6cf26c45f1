import {
  isBoolean,
  isCount,
  isFunction,
  isListOf,
  isObjectOf,
  isOneOf,
  isText,
  maybe,
  type OptionRule,
} from '../../option-rules.js';
import { isRecord } from '../../schema/plain-json.js';
import { SECRET_KINDS } from './secrets/patterns.js';

/**
 * Rules for the options that an interceptor has of its own, and whether one may not be left out; null where what uses an
 * option checks it.
 */
export type OptionRules<K extends string> = Readonly<
  Record<K, readonly [...rule: OptionRule, presence?: 'required'] | null>
>;

/**
 * Checks options: those that come from a configuration have no types, and a limit that is misspelt is none.
 * @param shared the options that are checked elsewhere
 * @throws TypeError for an option that there is not, or that cannot be
 */
export function checkOptions(
  factory: string,
  options: object,
  rules: OptionRules<string>,
  shared: readonly string[],
): void {
  if (!isRecord(options)) throw new TypeError(`${factory} takes an object with its options`);
  const known = [...Object.keys(rules), ...shared];
  const unknown = Object.keys(options).find(option => !known.includes(option));
  if (unknown !== undefined) {
    throw new TypeError(`${factory} has the unknown option "${unknown}"; known are ${known.join(', ')}`);
  }
  for (const [option, rule] of Object.entries(rules)) {
    const [test, what, presence] = rule ?? [() => true];
    const value = options[option];
    const isRight = value === undefined ? presence !== 'required' : test(value);
    if (!isRight) throw new TypeError(`${factory}: "${option}" must be ${what}`);
  }
}

/** What is checked where it is used. */
export const ANY = (): boolean => true;

const isNumber = (value: unknown): boolean => Number.isFinite(value);
const isRegExp = (value: unknown): boolean => value instanceof RegExp;

const isEntropy = isObjectOf({
  minLength: ANY,
  base64: maybe(isNumber),
  hex: maybe(isNumber),
  gitShas: maybe(isBoolean),
});

/** How large a payload may be that is searched for secrets. */
export const SCAN_LIMITS: OptionRule = [
  isObjectOf({ maxDepth: maybe(isCount), maxNodes: maybe(isCount), maxChars: maybe(isCount) }),
  '{ maxDepth, maxNodes, maxChars }, of whole numbers above 0',
];

/** What is a secret, as `SecretDetector` takes it. */
export const DETECTOR: OptionRules<'kinds' | 'patterns' | 'entropy' | 'ignore' | 'decodeDepth'> = {
  kinds: [isListOf(isOneOf(...SECRET_KINDS)), `a list of some of ${SECRET_KINDS.join(', ')}`],
  patterns: [
    isListOf(isObjectOf({ kind: isText, pattern: isRegExp, accept: maybe(isFunction) })),
    'a list of { kind, pattern, accept }',
  ],
  entropy: [
    value => value === false || isEntropy(value),
    'false, or { minLength, base64, hex, gitShas }: numbers, and true or false',
  ],
  ignore: [isListOf(isRegExp), 'a list of regular expressions'],
  decodeDepth: null,
};
