import { isRecord } from '../../schema/plain-json.js';
import { SECRET_KINDS, type SecretKind } from './secrets/patterns.js';

/** What an option may be: a test, and what completes "must be"; and whether it may not be left out. */
export type OptionRule = readonly [test: (value: unknown) => boolean, what: string, presence?: 'required'];

/** Rules for the options that an interceptor has of its own; null where what uses an option checks it. */
export type OptionRules<K extends string> = Readonly<Record<K, OptionRule | null>>;

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

export const isText = (value: unknown): value is string => typeof value === 'string';

export const isListOf = (test: (value: unknown) => boolean, value: unknown): boolean =>
  Array.isArray(value) && value.every(test);

/** A test for an object in which nothing but these may be, each as its test says; `undefined` is for the test to admit. */
export const isObjectOf =
  (members: Readonly<Record<string, (value: unknown) => boolean>>) =>
  (value: unknown): boolean =>
    isRecord(value) &&
    Object.keys(value).every(key => Object.hasOwn(members, key)) &&
    Object.entries(members).every(([key, test]) => test(value[key]));

export const maybe =
  (test: (value: unknown) => boolean) =>
  (value: unknown): boolean =>
    value === undefined || test(value);

/** What is checked where it is used. */
export const ANY = (): boolean => true;

export const isFunction = (value: unknown): boolean => typeof value === 'function';

/** How large a payload may be that is searched for secrets. */
export const SCAN_LIMITS: OptionRule = [
  isObjectOf({ maxDepth: maybe(isCount), maxNodes: maybe(isCount), maxChars: maybe(isCount) }),
  '{ maxDepth, maxNodes, maxChars }, of whole numbers above 0',
];

function isNumber(value: unknown): boolean {
  return Number.isFinite(value);
}

function isRegExp(value: unknown): boolean {
  return value instanceof RegExp;
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) > 0;
}

/** What is a secret, as `SecretDetector` takes it. */
export const DETECTOR: OptionRules<'kinds' | 'patterns' | 'entropy' | 'ignore' | 'decodeDepth'> = {
  kinds: [
    value => isListOf(kind => SECRET_KINDS.includes(kind as SecretKind), value),
    `a list of some of ${SECRET_KINDS.join(', ')}`,
  ],
  patterns: [
    value => isListOf(isObjectOf({ kind: isText, pattern: isRegExp, accept: maybe(isFunction) }), value),
    'a list of { kind, pattern, accept }',
  ],
  entropy: [
    value =>
      value === false ||
      isObjectOf({
        minLength: ANY,
        base64: maybe(isNumber),
        hex: maybe(isNumber),
        gitShas: ANY,
      })(value),
    'false, or { minLength, base64, hex, gitShas }',
  ],
  ignore: [value => isListOf(isRegExp, value), 'a list of regular expressions'],
  decodeDepth: null,
};
