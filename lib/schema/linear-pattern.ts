import { RE2JS } from 're2js';
import { reasonOf } from './schema.error.js';

export class PatternError extends Error {}

export interface LinearPattern {
  test(text: string): boolean;
  /** Maximum steps for each character. */
  readonly size: number;
}

/** Repetitions count towards the length: `a{1000}` compiles to a thousand times `a`. */
const MAX_EXPANDED_LENGTH = 100_000;
const MAX_COUNT = 1000;

const LINE_END = String.raw`\n\r\x{2028}\x{2029}`;
const SPACE = String.raw`\t-\r \xa0\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff}`;
const NO_SPACE = String.raw`\x00-\x08\x0e-\x1f!-\x9f\xa1-\x{167f}\x{1681}-\x{1fff}\x{200b}-\x{2027}\x{202a}-\x{202e}\x{2030}-\x{205e}\x{2060}-\x{2fff}\x{3001}-\x{fefe}\x{ff00}-\x{10ffff}`;
const ANYTHING = String.raw`\x00-\x{10ffff}`;

/** General categories have two names in ECMAScript, but one name in RE2. */
const CATEGORIES: ReadonlyMap<string, string> = new Map(
  (
    'Letter L,Cased_Letter LC,Uppercase_Letter Lu,Lowercase_Letter Ll,Titlecase_Letter Lt,Modifier_Letter Lm,' +
    'Other_Letter Lo,Mark M,Combining_Mark M,Nonspacing_Mark Mn,Spacing_Mark Mc,Enclosing_Mark Me,Number N,' +
    'Decimal_Number Nd,Letter_Number Nl,Other_Number No,Punctuation P,punct P,Connector_Punctuation Pc,' +
    'Dash_Punctuation Pd,Open_Punctuation Ps,Close_Punctuation Pe,Initial_Punctuation Pi,Final_Punctuation Pf,' +
    'Other_Punctuation Po,Symbol S,Math_Symbol Sm,Currency_Symbol Sc,Modifier_Symbol Sk,Other_Symbol So,' +
    'Separator Z,Space_Separator Zs,Line_Separator Zl,Paragraph_Separator Zp,Other C,Control Cc,Format Cf,' +
    'Surrogate Cs,Private_Use Co,Unassigned Cn'
  )
    .split(',')
    .map(names => names.split(' ') as [string, string]),
);

const ESCAPE =
  /\\u(?<high>d[89ab][\da-f]{2})\\u(?<low>d[c-f][\da-f]{2})|\\(?:u\{(?<point>[\da-f]+)\}|u(?<unit>[\da-f]{4})|c(?<control>[a-z]))|\\(?<not>p)\{(?<property>[^}]+)\}|\\(?<escaped>[^])/iu
    .source;
const TOKEN = new RegExp(
  `${ESCAPE}|(?<set>\\[(?:\\\\[^]|[^\\]\\\\])*\\])|(?<group>\\(\\?(?:<(?![=!])[^>]*>|:)?)|\\{(?<from>\\d+)(?:,(?<to>\\d*))?\\}|\\.`,
  'giu',
);
const TOKEN_IN_SET = new RegExp(`${ESCAPE}|\\[`, 'giu');

/**
 * Compiles the pattern of a JSON Schema (ECMAScript with `u`). RE2 matches it in linear time.
 * @throws PatternError for look-around, references to groups and counts above 1,000; SyntaxError for an invalid pattern
 */
export function linearPattern(source: string): LinearPattern {
  const expression = translate(source);
  // Compiled on first use, because compiling is slow and most listed tools are never called.
  let compiled: RE2JS | undefined;
  const pattern = (): RE2JS => (compiled ??= compile(expression));
  return {
    test: text => pattern().test(text),
    get size() {
      return pattern().programSize();
    },
  };
}

function compile(expression: string): RE2JS {
  try {
    return RE2JS.compile(expression);
  } catch (error) {
    throw new PatternError(reasonOf(error));
  }
}

/** Translates escapes, groups, sets and the dot, which RE2 reads differently. */
function translate(source: string): string {
  // Checked first, because RE2 accepts some patterns that ECMAScript refuses.
  void new RegExp(source, 'u');
  let maxCount = 1;
  const expression = source.replace(TOKEN, (token: string, ...rest: unknown[]) => {
    const parts = rest.at(-1) as Parts;
    const { set, group, from, to } = parts;
    if (set !== undefined) return setOf(set);
    if (group !== undefined) return groupOf(group);
    if (token === '.') return `[^${LINE_END}]`;
    if (from === undefined) return escapeOf(parts, false);
    maxCount = Math.max(maxCount, Number(from), Number(to ?? 0));
    return token;
  });
  if (maxCount > MAX_COUNT) throw new PatternError(`it counts to more than ${MAX_COUNT}`);
  if (expression.length * maxCount > MAX_EXPANDED_LENGTH) throw new PatternError('it is too large');
  return expression;
}

type Parts = Readonly<Partial<Record<string, string>>>;

function setOf(set: string): string {
  if (set === '[]') return `[^${ANYTHING}]`;
  if (set === '[^]') return `[${ANYTHING}]`;
  const inner = set.slice(1, -1).replace(TOKEN_IN_SET, (token: string, ...rest: unknown[]) =>
    // RE2 would read `[:` as a POSIX set.
    token === '[' ? '\\[' : escapeOf(rest.at(-1) as Parts, true),
  );
  return `[${inner}]`;
}

/** Removes capture groups: they are not needed, and RE2 may refuse their names. */
function groupOf(group: string): string {
  if (group === '(?') throw new PatternError('it looks ahead or behind, or sets flags');
  return '(?:';
}

function escapeOf(parts: Parts, isInSet: boolean): string {
  const { not, property, escaped = '' } = parts;
  const point = codePointOf(parts);
  if (point !== undefined) return `\\x{${point.toString(16)}}`;
  if (property !== undefined) return `\\${not}{${propertyOf(property)}}`;
  switch (escaped) {
    case 's':
      return isInSet ? SPACE : `[${SPACE}]`;
    case 'S':
      return isInSet ? NO_SPACE : `[${NO_SPACE}]`;
    case 'b':
      return isInSet ? '\\x08' : '\\b';
    case '0':
      return '\\x00';
    default:
      if (/[1-9k]/.test(escaped)) throw new PatternError('it refers to a group');
      return `\\${escaped}`;
  }
}

function codePointOf({ high, low, point, unit, control }: Parts): number | undefined {
  if (high !== undefined && low !== undefined) {
    return String.fromCharCode(parseInt(high, 16), parseInt(low, 16)).codePointAt(0);
  }
  if (control !== undefined) return control.charCodeAt(0) % 32;
  const digits = point ?? unit;
  return digits === undefined ? undefined : parseInt(digits, 16);
}

function propertyOf(property: string): string {
  const name = property.replace(/^(?:General_Category|gc|Script|sc)=/, '');
  return CATEGORIES.get(name) ?? name;
}
