import { isRecord } from './schema/plain-json.js';

/** Whether a value may be what an option says. */
export type OptionTest = (value: unknown) => boolean;

/** What an option may be: a test, and what completes "must be". */
export type OptionRule = readonly [test: OptionTest, what: string];

/** A string with something to read in it. */
export const isText = (value: unknown): value is string => typeof value === 'string' && value.trim() !== '';

export const isFunction = (value: unknown): boolean => typeof value === 'function';

export const isBoolean = (value: unknown): boolean => typeof value === 'boolean';

/** A whole number above 0, up to `max`. */
export const isUpTo =
  (max: number): OptionTest =>
  value =>
    Number.isSafeInteger(value) && (value as number) > 0 && (value as number) <= max;

/** A whole number above 0. */
export const isCount = isUpTo(Number.MAX_SAFE_INTEGER);

/** One of these values. */
export const isOneOf =
  (...values: readonly unknown[]): OptionTest =>
  value =>
    values.includes(value);

/** A list of so many at least, each as the test says. */
export const isListOf =
  (test: OptionTest, minLength = 0): OptionTest =>
  value =>
    Array.isArray(value) && value.length >= minLength && value.every(one => test(one));

/** An object in which nothing but these may be, each as its test says. */
export const isObjectOf =
  (members: Readonly<Record<string, OptionTest>>): OptionTest =>
  value =>
    isRecord(value) &&
    Object.keys(value).every(key => Object.hasOwn(members, key)) &&
    Object.entries(members).every(([key, test]) => test(value[key]));

/** What may be left out. */
export const maybe =
  (test: OptionTest): OptionTest =>
  value =>
    value === undefined || test(value);

/** A text, or a list of some. */
export const isTexts = (value: unknown): boolean => isText(value) || isListOf(isText, 1)(value);
