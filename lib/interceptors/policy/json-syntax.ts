const SPACE = /[ \t\r\n]*/y;
const TOKEN =
  /[{}[\],:]|"[ -!#-[\]-\uffff]*(?:\\(?:["\\/bfnrt]|u[\da-fA-F]{4})[ -!#-[\]-\uffff]*)*"|true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;

type Expected = 'value' | 'value or ]' | 'key' | 'key or }' | ':' | 'end of value';

/**
 * Where a text stops being JSON, in UTF-16 code units from its start. `JSON.parse` says so for some mistakes only, and
 * in words that change from one Node to the next.
 */
export function jsonErrorOffset(text: string): number {
  const closers: string[] = [];
  let expected: Expected | undefined = 'value';
  let offset = 0;
  for (;;) {
    offset += lengthAt(SPACE, text, offset);
    const length = lengthAt(TOKEN, text, offset);
    expected = length === 0 ? undefined : after(text.slice(offset, offset + length), expected, closers);
    if (expected === undefined) return offset;
    offset += length;
  }
}

/** What may follow a token; undefined for a token that is not in its place. */
function after(token: string, expected: Expected, closers: string[]): Expected | undefined {
  const isClosing = expected === 'end of value' || expected.endsWith(token);
  if (isClosing && (token === '}' || token === ']')) {
    return closers.pop() === token ? 'end of value' : undefined;
  }
  switch (expected) {
    case 'key':
    case 'key or }':
      return token.startsWith('"') ? ':' : undefined;
    case ':':
      return token === ':' ? 'value' : undefined;
    case 'end of value':
      if (token !== ',' || closers.length === 0) return undefined;
      return closers.at(-1) === '}' ? 'key' : 'value';
    case 'value':
    case 'value or ]':
      return afterValue(token, closers);
  }
}

function afterValue(token: string, closers: string[]): Expected | undefined {
  if (token === '{') {
    closers.push('}');
    return 'key or }';
  }
  if (token === '[') {
    closers.push(']');
    return 'value or ]';
  }
  return /^[}\],:]$/.test(token) ? undefined : 'end of value';
}

function lengthAt(pattern: RegExp, text: string, offset: number): number {
  pattern.lastIndex = offset;
  return pattern.exec(text)?.[0].length ?? 0;
}
