import type { View } from './view.js';

/** Characters that a reader does not see, or sees as part of another one. */
const INVISIBLE = /[\p{Cf}\p{M}\p{Default_Ignorable_Code_Point}\u2800]|(?![\t\n\r])\p{Cc}/gu;
const NOT_PLAIN = /[^\t\n\r\x20-\x7e]/gu;
const DASH = /^[\p{Pd}\u2212]$/u;

/** Cyrillic and Greek letters that look like Latin ones, and the slashes that look like the slash. */
const LOOKALIKES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    ...pairs('авеорсухкмнтіјѕԁһԛԝ', 'abeopcyxkmhtijsdhqw'),
    ...pairs('АВЕКМНОРСТУХІЈЅԌԚԜѴЗ', 'ABEKMHOPCTYXIJSGQWV3'),
    ...pairs('ΑΒΕΖΗΙΚΜΝΟΡΤΥΧ', 'ABEZHIKMNOPTYX'),
    ...pairs('αικνορτυχ', 'aikvoptux'),
    ...pairs('\u2044\u2215', '//'),
  }),
);

/** The text as a reader would type it: plain characters for look-alikes, without accents and invisible characters. */
export const normalise = (view: View): View => view.rewrite(NOT_PLAIN, plain);

/** The letters and digits of a text alone, in lower case: what is left of it however it is cased, cut or spaced. */
export const fold = (normalised: string): string => normalised.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '');

function plain(character: string): string {
  const known = LOOKALIKES.get(character);
  if (known !== undefined) return known;
  if (DASH.test(character)) return '-';
  const parts = character.normalize('NFKD');
  // A ligature of a whole phrase is no disguise of a letter, and would only make the text grow.
  return parts.length > 4 ? character : parts.replace(INVISIBLE, '');
}

function pairs(from: string, to: string): Record<string, string> {
  const targets = [...to];
  return Object.fromEntries([...from].map((character, index) => [character, targets[index]]));
}
