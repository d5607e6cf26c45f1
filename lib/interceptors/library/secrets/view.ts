/** Replacements in a text, in its order, as lists of numbers and texts. */
class Edits {
  readonly starts: number[] = [];
  readonly lengths: number[] = [];
  readonly texts: string[] = [];

  add(start: number, length: number, text: string): void {
    this.starts.push(start);
    this.lengths.push(length);
    this.texts.push(text);
  }
}

export class View {
  constructor(
    readonly text: string,
    private readonly starts?: Uint32Array,
    private readonly ends?: Uint32Array,
  ) {}

  /** Maps `start` to `end` of this text to the matching part of the source; `end` is after `start`. */
  source(start: number, end: number): readonly [start: number, end: number] {
    return [this.startOf(start), this.endOf(end)];
  }

  rewrite(pattern: RegExp, replacement: (match: string) => string): View {
    const edits = new Edits();
    for (const { 0: match, index } of this.text.matchAll(pattern)) {
      const text = replacement(match);
      if (text !== match) edits.add(index, match.length, text);
    }
    return this.edited(edits);
  }

  /** It allocates nothing for each character, because a text can have a million. */
  edited({ starts: from, lengths, texts }: Edits): View {
    if (texts.length === 0) return this;
    const { text } = this;
    const parts: string[] = [];
    let copied = 0;
    for (let edit = 0; edit < texts.length; edit++) {
      if (from[edit] > copied) parts.push(text.slice(copied, from[edit]));
      if (texts[edit] !== '') parts.push(texts[edit]);
      copied = from[edit] + lengths[edit];
    }
    parts.push(text.slice(copied));
    const edited = parts.join('');
    const starts = new Uint32Array(edited.length);
    const ends = new Uint32Array(edited.length);
    let at = 0;
    copied = 0;
    for (let edit = 0; edit <= texts.length; edit++) {
      const start = edit < texts.length ? from[edit] : text.length;
      for (; copied < start; copied++, at++) {
        starts[at] = this.startOf(copied);
        ends[at] = this.endOf(copied + 1);
      }
      if (edit === texts.length) break;
      copied += lengths[edit];
      const until = at + texts[edit].length;
      for (; at < until; at++) {
        starts[at] = this.startOf(start);
        ends[at] = this.endOf(copied);
      }
    }
    return new View(edited, starts, ends);
  }

  private startOf(index: number): number {
    return this.starts ? this.starts[index] : index;
  }

  private endOf(index: number): number {
    return this.ends ? this.ends[index - 1] : index;
  }
}

/** Characters that are invisible, or that join another character. */
const INVISIBLE = /[\p{Cf}\p{M}\p{Default_Ignorable_Code_Point}\u2800]|(?![\t\n\r])\p{Cc}/gu;
const NOT_PLAIN = /[^\t\n\r\x20-\x7e]/;
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
export function normalise(view: View): View {
  const { text } = view;
  if (!NOT_PLAIN.test(text)) return view;
  const known = new Map<number, string>();
  const edits = new Edits();
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (isPlain(code)) continue;
    const codePoint = text.codePointAt(index)!;
    const length = codePoint > 0xffff ? 2 : 1;
    let replaced = known.get(codePoint);
    if (replaced === undefined) known.set(codePoint, (replaced = plain(String.fromCodePoint(codePoint))));
    // Of one character: the text itself, if it does not change.
    if (replaced.codePointAt(0) !== codePoint || replaced.length !== length)
      edits.add(index, length, replaced);
    index += length - 1;
  }
  return view.edited(edits);
}

/** Decoded random bytes are full of the replacement character, which stays as it is. */
const isPlain = (code: number): boolean =>
  (code >= 0x20 && code <= 0x7e) || code === 0x09 || code === 0x0a || code === 0x0d || code === 0xfffd;

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
