interface Stretch {
  readonly text: string;
  readonly from: number;
  readonly replaced?: number;
}

export class View {
  private constructor(
    readonly text: string,
    private readonly starts?: Uint32Array,
    private readonly ends?: Uint32Array,
  ) {}

  static of(text: string): View {
    return new View(text);
  }

  /** Maps `start` to `end` of this text to the matching part of the source; `end` is after `start`. */
  source(start: number, end: number): readonly [start: number, end: number] {
    return [this.starts?.[start] ?? start, this.ends?.[end - 1] ?? end];
  }

  rewrite(pattern: RegExp, replacement: (match: string) => string): View {
    const stretches: Stretch[] = [];
    let copied = 0;
    for (const { 0: match, index } of this.text.matchAll(pattern)) {
      const text = replacement(match);
      if (text === match) continue;
      stretches.push({ text: this.text.slice(copied, index), from: copied });
      stretches.push({ text, from: index, replaced: match.length });
      copied = index + match.length;
    }
    if (stretches.length === 0) return this;
    stretches.push({ text: this.text.slice(copied), from: copied });
    return this.join(stretches);
  }

  private join(stretches: readonly Stretch[]): View {
    const text = stretches.map(stretch => stretch.text).join('');
    const starts = new Uint32Array(text.length);
    const ends = new Uint32Array(text.length);
    let at = 0;
    for (const { text: part, from, replaced } of stretches) {
      for (let index = 0; index < part.length; index++, at++) {
        const start = replaced === undefined ? from + index : from;
        [starts[at], ends[at]] = this.source(start, start + (replaced ?? 1));
      }
    }
    return new View(text, starts, ends);
  }
}

/** Characters that are invisible, or that join another character. */
const INVISIBLE = /[\p{Cf}\p{M}\p{Default_Ignorable_Code_Point}\u2800]|(?![\t\n\r])\p{Cc}/gu;
const NOT_PLAIN = /[^\t\n\r\x20-\x7e]/gu;
const DASH = /^[\p{Pd}\u2212]$/u;

/** Cyrillic and Greek letters that look like Latin letters, and characters that look like a slash. */
const LOOKALIKES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    ...pairs('авеорсухкмнтіјѕԁһԛԝ', 'abeopcyxkmhtijsdhqw'),
    ...pairs('АВЕКМНОРСТУХІЈЅԌԚԜѴЗ', 'ABEKMHOPCTYXIJSGQWV3'),
    ...pairs('ΑΒΕΖΗΙΚΜΝΟΡΤΥΧ', 'ABEZHIKMNOPTYX'),
    ...pairs('αικνορτυχ', 'aikvoptux'),
    ...pairs('\u2044\u2215', '//'),
  }),
);

/** Replaces look-alikes by plain characters, and removes accents and invisible characters. */
export const normalise = (view: View): View => view.rewrite(NOT_PLAIN, plain);

/** The letters and digits of a text in lower case, independent of case, separators and spaces. */
export const fold = (normalised: string): string => normalised.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '');

function plain(character: string): string {
  const known = LOOKALIKES.get(character);
  if (known !== undefined) return known;
  if (DASH.test(character)) return '-';
  const parts = character.normalize('NFKD');
  // The ligature of a whole phrase does not disguise a letter, and would only lengthen the text.
  return parts.length > 4 ? character : parts.replace(INVISIBLE, '');
}

function pairs(from: string, to: string): Record<string, string> {
  const targets = [...to];
  return Object.fromEntries([...from].map((character, index) => [character, targets[index]]));
}

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
