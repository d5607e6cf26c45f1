import { isRecord } from './is-record.js';

/** A string with more than white space. */
export const isText = (value: unknown): value is string => typeof value === 'string' && value.trim() !== '';

/** Whether a value is an object, of any class, with these methods. */
export const hasMethods =
  (...methods: readonly string[]) =>
  (value: unknown): boolean =>
    isRecord(value) && methods.every(method => typeof value[method] === 'function');
