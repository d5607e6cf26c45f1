const MAX_URI_LENGTH = 8192;

export const SCHEME = /^[a-z][a-z\d+.-]*:/i;
export const NEVER_IN_A_URI = /[\s\p{Cc}\p{Cs}"<>\\^`{|}]/u;
export const MALFORMED_PERCENT = /%(?![\da-f]{2})/i;

/** Returns why a URI is invalid (RFC 3986, with letters of all scripts). */
export function checkUri(uri: string): string | undefined {
  if (uri.length > MAX_URI_LENGTH) return `it is longer than ${MAX_URI_LENGTH} characters`;
  if (!SCHEME.test(uri)) return 'it does not start with a scheme, such as "docs:"';
  const invalid = NEVER_IN_A_URI.exec(uri);
  if (invalid) return `it holds ${JSON.stringify(invalid[0])}, which has to be percent-encoded`;
  if (MALFORMED_PERCENT.test(uri)) return 'it holds a "%" without two hexadecimal digits after it';
  return undefined;
}
