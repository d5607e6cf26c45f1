/** Whether a text is a scope (RFC 6749, 3.3), and so can stand in a challenge. */
export const isScope = (text: string): boolean => /^[\x21\x23-\x5b\x5d-\x7e]+$/.test(text);
