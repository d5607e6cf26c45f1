/**
 * Keys start with a letter or `_`: JavaScript would move number keys to the front and change the order of input requests.
 */
const KEY = /^(?!__proto__$)[A-Za-z_][\w.:/-]{0,99}$/;

/** Describes a valid key in messages. */
export const KEY_RULE = 'a key starts with a letter or _ and has up to 100 letters, digits and _ . : / -';

/** Whether a value can be the key of an input request or a step. */
export const isKey = (key: unknown): boolean => typeof key === 'string' && KEY.test(key);
