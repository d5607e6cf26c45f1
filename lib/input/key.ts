/** Not a number: the order of keys is the order of questions. */
const KEY = /^(?!__proto__$)[A-Za-z_][\w.:/-]{0,99}$/;

/** What a key is, for messages. */
export const KEY_RULE = 'one has a letter first, and up to 100 letters, digits and _ . : / -';

/** Whether something can be the key of a question or a step. */
export const isKey = (key: unknown): boolean => typeof key === 'string' && KEY.test(key);
