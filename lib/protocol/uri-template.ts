import { checkUri, MALFORMED_PERCENT, NEVER_IN_A_URI, SCHEME } from './check-uri.js';

const NEVER_IN_A_VALUE = /[\p{Cc}\\]/u;
const DOT_SEGMENT = /(?:^|\/)\.\.?(?:$|[/?#])/;
const EXPRESSION = /^([+#./;?&]?)((?:\w+(?:\.\w+)*\*?)(?:,\w+(?:\.\w+)*\*?)*)$/;

interface Operator {
  /** Stands before the first value. */
  readonly prefix: string;
  /** Stands between values. */
  readonly separator: string;
  /** Characters that end the value unless they are percent-encoded. */
  readonly stops: string;
  /** Values are written `name=value`, in any order, and are optional. */
  readonly named?: true;
}

const OPERATORS: Readonly<Record<string, Operator>> = {
  '': { prefix: '', separator: ',', stops: '/?#' },
  '.': { prefix: '.', separator: '.', stops: '/?#' },
  '/': { prefix: '/', separator: '/', stops: '/?#' },
  '+': { prefix: '', separator: ',', stops: '' },
  '#': { prefix: '#', separator: ',', stops: '#' },
  ';': { prefix: ';', separator: ';', stops: '/?#', named: true },
  '?': { prefix: '?', separator: '&', stops: '#', named: true },
  '&': { prefix: '&', separator: '&', stops: '#', named: true },
};

interface Variable {
  readonly name: string;
  readonly exploded: boolean;
}

/** A part of the URI that holds one variable, or the pairs of named variables. */
interface Run extends Operator {
  readonly variables: Variable[];
  readonly crossesSegments: boolean;
}

type Token = string | Run;

export class UriTemplateError extends Error {
  override readonly name = 'UriTemplateError';

  constructor(template: string, problem: string) {
    super(`The URI template "${template}" ${problem}.`);
  }
}

export interface CompiledUriTemplate {
  readonly template: string;
  readonly variables: readonly string[];
  /** The amount of literal text. The most specific matching template is used. */
  readonly specificity: number;
  /** Returns the decoded variables, or undefined if the URI does not match. Never throws. */
  match(uri: string): Readonly<Record<string, string | string[]>> | undefined;
}

/**
 * Compiles an RFC 6570 template into a matcher. The RFC defines expansion only; matching works like this:
 *
 * - Literal text is compared exactly, except for the case of the scheme and superfluous percent-encoding.
 * - Values are decoded once. They never have a backslash, a control character or a segment `.` or `..`.
 *   Only `{+a}`, `{#a}` and queries may have a `/`; `{+a}` may begin with it.
 * - Named variables (`{?a,b}`, `{&a}`, `{;a}`) are optional and in any order. Unknown or repeated names do not match.
 * - Other variables are required and not empty. `{a*}` is a list. The earlier variable takes the longest text.
 *
 * Prefixes (`{a:3}`) and adjacent variables are refused. Matching takes linear time.
 * @throws UriTemplateError
 */
export function compileUriTemplate(template: string): CompiledUriTemplate {
  const tokens = parse(template);
  const runs = tokens.filter(token => typeof token !== 'string');
  const variables = runs.flatMap(run => run.variables.map(variable => variable.name));
  const repeated = variables.find((name, i) => variables.indexOf(name) !== i);
  if (repeated) throw new UriTemplateError(template, `has two variables named "${repeated}": rename one`);

  const literalLength = tokens.filter(token => typeof token === 'string').join('').length;
  const isWide = runs.some(run => !run.named && !run.stops.includes('/'));
  return {
    template,
    variables,
    // `{name}` is more specific than `{+path}` with the same text around it.
    specificity: literalLength - (isWide ? 0.5 : 0),
    match(uri) {
      if (checkUri(uri) !== undefined) return undefined;
      try {
        return matchTokens(tokens, pack(lowerScheme(uri)));
      } catch (error) {
        if (error instanceof URIError) return undefined; // percent-encoded bytes that are not UTF-8
        throw error;
      }
    },
  };
}

function parse(template: string): Token[] {
  const refuse = (problem: string): never => {
    throw new UriTemplateError(template, problem);
  };
  const tokens: Token[] = [];
  const push = (token: Token) => {
    const previous = tokens.at(-1);
    const beginning = typeof token === 'string' ? token : token.named ? token.prefix : '';
    if (typeof previous === 'object') {
      if (previous.separator === '&' && !beginning.startsWith('#')) {
        refuse('goes on after its query: let only {&more} and a fragment follow {?...} or {&...}');
      }
      if (beginning === '') refuse('has two variables with nothing between them: put literal text there');
    }
    tokens.push(token);
  };

  // Even parts are literal text, odd parts are expressions.
  const parts = lowerScheme(template).split(/\{([^{}]*)\}/);
  if (!SCHEME.test(parts[0]))
    refuse('does not begin with a literal scheme: put one there, such as "docs://"');
  for (const [i, part] of parts.entries()) {
    if (i % 2 === 0) {
      const invalid = /[{}]/.exec(part) ?? NEVER_IN_A_URI.exec(part) ?? MALFORMED_PERCENT.exec(part);
      if (invalid) refuse(`has a stray ${JSON.stringify(invalid[0])}: take it out or percent-encode it`);
      if (part) push(pack(part));
      continue;
    }

    if (/:\d+/.test(part)) refuse(`keeps only the beginning of a value in {${part}}: leave out the length`);
    const [, symbol, list] =
      EXPRESSION.exec(part) ??
      refuse(
        `has {${part}}: write {name}, of letters, digits, "_" and ".", with at most one of +#./;?& before it`,
      );
    const operator = OPERATORS[symbol];
    const variables = list
      .split(',')
      .map(spec => ({ name: spec.replace('*', ''), exploded: spec.endsWith('*') }));
    const crossesSegments = !operator.stops.includes('/');
    const inQuery = parts.slice(0, i).join('{').includes('?');
    if (symbol === '&' && !inQuery) refuse(`has {${part}} without a query before it: write {?${list}}`);

    if (operator.named) {
      const previous = tokens.at(-1);
      // `{?a}{&b}` is `{?a,b}`, because each variable is optional.
      if (typeof previous === 'object' && previous.separator === symbol)
        previous.variables.push(...variables);
      else push({ ...operator, variables, crossesSegments });
      continue;
    }

    const rest = parts.slice(i + 1).join('{');
    const ends = [...'?#;'].filter(c => rest.includes(c)).join('') + (inQuery ? '&' : '');
    for (const [k, variable] of variables.entries()) {
      const delimiter = k === 0 ? operator.prefix : operator.separator;
      if (delimiter) push(delimiter);
      let stops = operator.stops + ends;
      if (variable.exploded) stops = stops.replaceAll(operator.separator, '');
      else if (variables.length > 1) stops += operator.separator;
      push({ ...operator, stops, variables: [variable], crossesSegments });
    }
  }
  return tokens;
}

function matchTokens(tokens: readonly Token[], text: string): Record<string, string | string[]> | undefined {
  const [first] = tokens;
  if (typeof first === 'string' && !text.startsWith(first)) return undefined;

  const rows = solve(tokens, text);
  if (!rows[0][0]) return undefined;
  const values = new Map<string, string | string[]>();
  let at = 0;
  for (const [i, token] of tokens.entries()) {
    if (typeof token === 'string') {
      at += token.length;
      continue;
    }
    let end = at;
    for (let to = at; to <= text.length; to++) {
      if (rows[i + 1][to]) end = to;
      if (!(to === at ? begins : continues)(token, text.charAt(to))) break;
    }
    if (!capture(token, text.slice(at, end), values)) return undefined;
    at = end;
  }
  return Object.fromEntries(values);
}

const continues = (run: Run, c: string) => c !== '' && !run.stops.includes(c);
const begins = (run: Run, c: string) => (run.named ? c === run.prefix : continues(run, c));

/**
 * `rows[i][at]` says whether the tokens from `i` match the whole text from `at`. A regular expression would backtrack.
 */
function solve(tokens: readonly Token[], text: string): Uint8Array[] {
  const end = new Uint8Array(text.length + 1);
  end[text.length] = 1;
  const rows = [end];
  for (const token of [...tokens].reverse()) {
    const [next] = rows;
    const row = new Uint8Array(text.length + 1);
    if (typeof token === 'string') {
      for (let at = text.indexOf(token); at >= 0; at = text.indexOf(token, at + 1))
        row[at] = next[at + token.length];
    } else {
      let closes = false; // whether a run that has begun before `at + 1` can end there or later
      for (let at = text.length; at >= 0; at--) {
        const c = text.charAt(at);
        row[at] = Number((token.named && next[at] === 1) || (begins(token, c) && closes));
        closes = next[at] === 1 || (continues(token, c) && closes);
      }
    }
    rows.unshift(row);
  }
  return rows;
}

/** Stores the decoded values. Returns false for a value that is not allowed. */
function capture(run: Run, text: string, values: Map<string, string | string[]>): boolean {
  if (!run.named) {
    const [{ name, exploded }] = run.variables;
    const items = exploded ? text.split(run.separator) : [text];
    const decoded = items.map(unpack);
    values.set(name, exploded ? decoded : decoded[0]);
    return decoded.every(value => value !== '' && isAllowed(run, value));
  }
  if (text === '') return true;
  for (const pair of text.slice(1).split(run.separator)) {
    const [name] = pair.split('=', 1);
    const variable = run.variables.find(candidate => candidate.name === name);
    const value = unpack(pair.slice(name.length + 1));
    const before = values.get(name);
    if (!variable || !isAllowed(run, value)) return false;
    if (before === undefined) values.set(name, variable.exploded ? [value] : value);
    else if (typeof before === 'string') return false;
    else before.push(value);
  }
  return true;
}

function isAllowed(run: Run, value: string): boolean {
  if (NEVER_IN_A_VALUE.test(value) || DOT_SEGMENT.test(value)) return false;
  return run.crossesSegments || !value.includes('/');
}

/**
 * Writes each percent triplet as one code unit (U+E000 plus the byte), so that no match splits it.
 * Triplets of unreserved characters are decoded.
 */
function pack(uri: string): string {
  return uri.replace(/[^\0-\x7f]+/g, encodeURIComponent).replace(/%(..)/g, (_, digits: string) => {
    const byte = parseInt(digits, 16);
    const character = String.fromCharCode(byte);
    return /[\w.~-]/.test(character) ? character : String.fromCharCode(0xe000 + byte);
  });
}

function lowerScheme(uri: string): string {
  return uri.replace(SCHEME, scheme => scheme.toLowerCase());
}

function unpack(text: string): string {
  return decodeURIComponent(
    text.replace(/[\ue000-\ue0ff]/g, c => `%${(c.charCodeAt(0) - 0xe000).toString(16).padStart(2, '0')}`),
  );
}
