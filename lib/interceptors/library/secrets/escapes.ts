import type { View } from './view.js';

/** Percent-encoding, the escapes of JSON and JavaScript strings, and numeric character references. */
const ESCAPE =
  /%[0-7][0-9a-f]|(?:%[89a-f][0-9a-f])+|\\u[0-9a-f]{4}|\\u\{0{0,8}[0-9a-f]{1,6}\}|\\x[0-9a-f]{2}|\\["'\\/bfnrt]|&#(?:x0{0,8}[0-9a-f]{1,6}|0{0,8}[0-9]{1,7});/gi;

const LETTERS: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };

export const unescape = (view: View): View =>
  /[%\\&]/.test(view.text) ? view.rewrite(ESCAPE, resolve) : view;

function resolve(escape: string): string {
  if (escape.startsWith('%')) return Buffer.from(escape.replaceAll('%', ''), 'hex').toString('utf8');
  if (escape.startsWith('&')) {
    return character(/^&#x/i.test(escape) ? parseInt(escape.slice(3), 16) : parseInt(escape.slice(2), 10));
  }
  const kind = escape[1].toLowerCase();
  if ((kind === 'u' || kind === 'x') && escape.length > 2) {
    return character(parseInt(escape.replace(/[^0-9a-f]/gi, ''), 16));
  }
  return LETTERS[kind] ?? escape[1];
}

const character = (codePoint: number): string =>
  codePoint <= 0x10ffff ? String.fromCodePoint(codePoint) : '\ufffd';
