/** Longest sentence, in words. */
const MAX_WORDS = 30;

const OPENERS = /^(What|Whoever|Whatever|Of|Where|That which|One that)\b/;
const PHRASES =
  /\b(is none|are none|is no(?! longer)|comes to|whom|nobody|of its own|lets? \w+ pass|let pass|those|one (that|which|who))\b/i;

/** A sentence that breaks a rule, and the words that break it. */
export interface Fault {
  readonly fault: string;
  readonly sentence: string;
}

/** Replaces code by the word "Code", and joins the lines of a text. */
export const plain = (text: string): string =>
  text
    .replace(/`[^`]*`/g, 'Code')
    .replace(/\s+/g, ' ')
    .trim();

/** The sentences of a text that are too long, or are not plain. */
export const faultsOf = (text: string): readonly Fault[] =>
  text.split(/(?<=[.!?]["”)]?) (?=["“(]?[A-Z])/).flatMap(sentence => {
    const fault = faultOf(sentence);
    return fault === undefined ? [] : [{ fault, sentence }];
  });

function faultOf(sentence: string): string | undefined {
  const words = sentence.split(' ').filter(word => /[\p{L}\p{N}]/u.test(word)).length;
  if (words > MAX_WORDS) return `${words} words`;
  return (OPENERS.exec(sentence) ?? PHRASES.exec(sentence))?.[0];
}
