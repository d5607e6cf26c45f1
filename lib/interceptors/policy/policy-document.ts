import {
  Composer,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  Lexer,
  Parser,
  type CST,
  type Document,
  type Pair,
  type ParsedNode,
} from 'yaml';
import type { PolicySource } from './policy-error.js';

/** YAML 1.2 with its core schema, even with a `%YAML` directive: no merge keys, and only tags of the core schema. */
const OPTIONS = {
  version: '1.2',
  schema: 'core',
  merge: false,
  resolveKnownTags: false,
  stringKeys: true,
  // `inspect` finds duplicate keys: the library compares every pair of keys, which takes minutes for a large file.
  uniqueKeys: false,
  prettyErrors: false,
  logLevel: 'error',
} as const;

/** Maximum nesting. The library recurses for each level, and too many levels would crash the process. */
const MAX_DEPTH = 64;
const MAX_ALIASES = 100;

type YamlDocument = Document.Parsed<ParsedNode>;
type YamlPair = Pair<ParsedNode, ParsedNode | null>;

export interface PolicyDocument {
  /** Plain data: a tree without `__proto__` keys and without infinite numbers; null for an empty document. */
  readonly value: unknown;
  readonly offsetOf: (steps: readonly string[]) => number;
}

/** Refuses a second document, duplicate keys, unknown tags, more than 100 aliases and more than 64 levels. */
export function parseYaml(source: PolicySource): PolicyDocument {
  const document = compose(source);
  const [problem] = [...document.errors, ...document.warnings];
  if (problem) throw source.error(`is not valid YAML: ${problem.message}`, problem.pos[0]);
  inspect(document, source);
  try {
    const value: unknown = document.toJS({ maxAliasCount: MAX_ALIASES });
    return { value, offsetOf: steps => offsetOf(document, steps) };
  } catch {
    throw source.error('its aliases expand to too much data: write the values out');
  }
}

export function parseJson(source: PolicySource): PolicyDocument {
  // Parsed as YAML first, because the YAML parser reports the position of each key, and duplicate keys.
  const document = compose(source);
  let value: unknown;
  try {
    value = JSON.parse(source.text);
  } catch {
    const offset = Math.min(notJsonAt(source.text), ...document.errors.map(({ pos }) => pos[0]));
    const character = source.text.codePointAt(offset);
    const found =
      character === undefined ? 'end of the text' : JSON.stringify(String.fromCodePoint(character));
    throw source.error(`is not valid JSON: unexpected ${found}`, offset);
  }
  inspect(document, source);
  return { value, offsetOf: steps => offsetOf(document, steps) };
}

/** The offset of the first YAML construct that JSON does not allow; the length of the text without one. */
function notJsonAt(text: string): number {
  let offset = 0;
  let before = { lexeme: '', offset };
  for (const lexeme of new Lexer().lex(text)) {
    // The lexer announces documents and scalars with control characters that the text does not contain.
    if (!text.startsWith(lexeme, offset)) continue;
    if (lexeme.trim() !== '') {
      if (lexeme === ':' && !before.lexeme.startsWith('"')) return before.offset;
      if ('}],'.includes(lexeme) ? /^[:,]$/.test(before.lexeme) : !isJsonToken(lexeme)) return offset;
      before = { lexeme, offset };
    }
    offset += lexeme.length;
  }
  return offset;
}

function isJsonToken(lexeme: string): boolean {
  if ('{[:'.includes(lexeme)) return true;
  try {
    JSON.parse(lexeme);
    return true;
  } catch {
    return false;
  }
}

function compose(source: PolicySource): YamlDocument {
  const { length } = source.text;
  let found: YamlDocument | undefined;
  for (const document of new Composer(OPTIONS).compose(tokensOf(source), true, length)) {
    if (found) throw source.error('it has more than one YAML document', document.range[0]);
    found = document;
  }
  if (!found) throw source.error('it does not contain a YAML document');
  return found;
}

function* tokensOf(source: PolicySource): Generator<CST.Token> {
  const parser = new Parser();
  for (const lexeme of new Lexer().lex(source.text)) {
    yield* parser.next(lexeme);
    if (depthOf(parser) > MAX_DEPTH) {
      throw source.error(`is nested more than ${MAX_DEPTH} levels deep`, parser.offset - lexeme.length);
    }
  }
  yield* parser.end();
}

function depthOf({ stack }: Parser): number {
  const top = stack.at(-1);
  return stack.length - (top && 'items' in top ? 1 : 2);
}

function inspect(document: YamlDocument, source: PolicySource): void {
  const steps: string[] = [];
  const open = new Set<unknown>();
  let aliases = 0;

  const refuse = (rule: string, node: ParsedNode): never => {
    throw source.error(rule, node.range[0], steps);
  };
  const within = (step: string, look: () => void) => {
    steps.push(step);
    look();
    steps.pop();
  };
  const visit = (node: ParsedNode | null): void => {
    if (isAlias(node)) {
      if (++aliases > MAX_ALIASES) refuse(`it has more than ${MAX_ALIASES} aliases`, node);
      const target = node.resolve(document);
      if (!target) refuse(`the alias *${node.source} has no anchor before it`, node);
      if (open.has(target)) refuse(`the alias *${node.source} contains itself`, node);
    } else if (isScalar(node)) {
      if (typeof node.value === 'number' && !Number.isFinite(node.value)) refuse('must be finite', node);
    } else if (isMap<ParsedNode, ParsedNode | null>(node)) {
      open.add(node);
      const names = new Set<string>();
      for (const pair of node.items) {
        const name = nameOf(pair);
        within(name, () => {
          if (names.has(name)) refuse('is defined twice', pair.key);
          // Copying the object by assignment would turn this key into a prototype.
          if (name === '__proto__') refuse('cannot be used as a name', pair.key);
          names.add(name);
          visit(pair.value);
        });
      }
      open.delete(node);
    } else if (isSeq<ParsedNode>(node)) {
      open.add(node);
      node.items.forEach((item, index) => within(String(index), () => visit(item)));
      open.delete(node);
    }
  };
  visit(document.contents);
}

function offsetOf({ contents }: YamlDocument, steps: readonly string[]): number {
  let node: ParsedNode | null = contents;
  let offset = contents?.range[0] ?? 0;
  for (const step of steps) {
    if (isMap<ParsedNode, ParsedNode | null>(node)) {
      const pair: YamlPair | undefined = node.items.find(one => nameOf(one) === step);
      if (!pair) break;
      offset = pair.key.range[0];
      node = pair.value;
    } else if (isSeq<ParsedNode>(node)) {
      node = node.items[Number(step)];
      offset = node.range[0];
    } else {
      break;
    }
  }
  return offset;
}

const nameOf = ({ key }: YamlPair): string => String(isScalar(key) ? key.value : key);
