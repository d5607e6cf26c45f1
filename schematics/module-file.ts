import type Typescript from 'typescript';
import type { Expression, Node, NodeArray, ObjectLiteralExpression, SourceFile } from 'typescript';
import { loadTypescript } from './application.js';

/** What a module gets: an entry of one of its arrays, and the import of its symbol. */
export interface ModuleEntry {
  readonly metadata: 'imports' | 'controllers' | 'providers';
  readonly symbol: string;
  readonly from: string;
  /** The entry of the array. Default: the symbol. */
  readonly expression?: string;
  /** Names of the same package that the expression uses. */
  readonly uses?: readonly string[];
}

interface Edit {
  readonly position: number;
  readonly text: string;
}

/** Whether code of the file names the symbol. Comments and texts do not count. */
export function mentions(text: string, symbol: string): boolean {
  const ts = loadTypescript();
  return isNamedIn(ts, parse(ts, text), symbol);
}

/** The specifier of the module that the file gives to `NestFactory`: `./app.module` of `main.ts`. */
export function rootModuleIn(text: string): string | undefined {
  const ts = loadTypescript();
  const source = parse(ts, text);
  const find = (node: Node): string | undefined =>
    ts.isCallExpression(node) && /^NestFactory\./.test(node.expression.getText()) && node.arguments.length > 0
      ? node.arguments[0].getText()
      : ts.forEachChild(node, find);
  const symbol = find(source);
  return symbol === undefined
    ? undefined
    : importsOf(ts, source).find(({ names }) => names.includes(symbol))?.from;
}

/**
 * The file with one more entry in an array of its `@Module()`, and with the import of the entry. A file that has the entry
 * is returned unchanged.
 * @returns undefined if the file has no `@Module()`, or no object in it
 */
export function addToModule(text: string, entry: ModuleEntry): string | undefined {
  const ts = loadTypescript();
  const source = parse(ts, text);
  const metadata = metadataOf(ts, source);
  if (!metadata) return undefined;
  const edits = [...entryEdits(ts, source, metadata, entry), ...importEdits(ts, source, entry)];
  return edits
    .sort((a, b) => b.position - a.position)
    .reduce((all, edit) => all.slice(0, edit.position) + edit.text + all.slice(edit.position), text);
}

function metadataOf(ts: typeof Typescript, source: SourceFile): ObjectLiteralExpression | undefined {
  for (const { expression } of source.statements.filter(ts.isClassDeclaration).flatMap(decoratorsOf(ts))) {
    if (!ts.isCallExpression(expression) || expression.expression.getText() !== 'Module') continue;
    const [argument] = expression.arguments;
    if (argument && ts.isObjectLiteralExpression(argument)) return argument;
  }
  return undefined;
}

const decoratorsOf = (ts: typeof Typescript) => (node: Typescript.ClassDeclaration) =>
  ts.getDecorators(node) ?? [];

function entryEdits(
  ts: typeof Typescript,
  source: SourceFile,
  metadata: ObjectLiteralExpression,
  { metadata: key, symbol, expression = symbol }: ModuleEntry,
): Edit[] {
  const property = metadata.properties.find(
    ({ name }) => name?.getText().replace(/^['"]|['"]$/g, '') === key,
  );
  if (!property) return append(ts, source, metadata, metadata.properties, `${key}: [${expression}]`);
  if (isNamedIn(ts, property, symbol)) return [];
  if (ts.isShorthandPropertyAssignment(property))
    return [{ position: property.getEnd(), text: `: [...${key}, ${expression}]` }];
  if (!ts.isPropertyAssignment(property)) return [];
  const { initializer } = property;
  if (ts.isArrayLiteralExpression(initializer))
    return append(ts, source, initializer, initializer.elements, expression);
  return around(initializer, '[...', `, ${expression}]`);
}

const around = (node: Expression, before: string, after: string): Edit[] => [
  { position: node.getStart(), text: before },
  { position: node.getEnd(), text: after },
];

/** One more element behind the last one and behind its comment. A comma at the end stays there. */
function append(
  ts: typeof Typescript,
  source: SourceFile,
  parent: Node,
  elements: NodeArray<Node>,
  text: string,
): Edit[] {
  const last = elements.at(-1);
  if (!last) return [{ position: parent.getEnd() - 1, text }];
  const { hasTrailingComma = false } = elements;
  const end = hasTrailingComma ? elements.end : last.getEnd();
  const commentEnd = ts.getTrailingCommentRanges(source.text, end)?.at(-1)?.end ?? end;
  const space = separatorOf(source, parent, last);
  const comma = { position: last.getEnd(), text: ',' };
  return [
    { position: commentEnd, text: `${space}${text}${hasTrailingComma ? ',' : ''}` },
    ...(hasTrailingComma ? [] : [comma]),
  ];
}

/** A line break with the indentation of the last element, or a space in a list of one line. */
function separatorOf(source: SourceFile, parent: Node, last: Node): string {
  if (!parent.getText().includes('\n')) return ' ';
  const lineStart = source.text.lastIndexOf('\n', last.getStart()) + 1;
  const [indentation] = /^\s*/.exec(source.text.slice(lineStart))!;
  return `${lineBreakOf(source)}${indentation}`;
}

function importEdits(
  ts: typeof Typescript,
  source: SourceFile,
  { symbol, from, uses = [] }: ModuleEntry,
): Edit[] {
  const imports = importsOf(ts, source);
  const known = imports.flatMap(({ names }) => names);
  const missing = [symbol, ...uses].filter(name => !known.includes(name)).join(', ');
  if (missing === '') return [];
  const same = imports.find(one => one.from === from && one.list);
  if (same?.list) return append(ts, source, same.list, same.list.elements, missing);
  // Packages stay beside packages, and files of the application beside its files.
  const isFile = from.startsWith('.');
  const last = imports.findLast(one => one.from.startsWith('.') === isFile) ?? imports.at(-1);
  if (!last) return [];
  const text = last.node.getText();
  const quote = text.includes('"') ? '"' : "'";
  const line = `import { ${missing} } from ${quote}${from}${quote}${text.endsWith(';') ? ';' : ''}`;
  const end = last.node.getEnd();
  const position = ts.getTrailingCommentRanges(source.text, end)?.at(-1)?.end ?? end;
  return [{ position, text: `${lineBreakOf(source)}${line}` }];
}

/** The imports of a file. `list` is missing if names cannot join it: `import type`, `import * as`, `import './a'`. */
function importsOf(ts: typeof Typescript, source: SourceFile) {
  return source.statements.filter(ts.isImportDeclaration).map(node => {
    const { importClause: clause } = node;
    const bindings = clause?.namedBindings;
    const named = bindings && ts.isNamedImports(bindings) ? bindings : undefined;
    return {
      node,
      from: (node.moduleSpecifier as Typescript.StringLiteral).text,
      names: [clause?.name, ...(named?.elements.map(({ name }) => name) ?? [])].map(name => name?.text),
      list: clause?.isTypeOnly ? undefined : named,
    };
  });
}

const lineBreakOf = ({ text }: SourceFile) => (text.includes('\r\n') ? '\r\n' : '\n');

const isNamedIn = (ts: typeof Typescript, node: Node, symbol: string): boolean =>
  (ts.isIdentifier(node) && node.text === symbol) ||
  ts.forEachChild(node, child => isNamedIn(ts, child, symbol) || undefined) === true;

const parse = (ts: typeof Typescript, text: string): SourceFile =>
  ts.createSourceFile('module.ts', text, ts.ScriptTarget.Latest, true);
