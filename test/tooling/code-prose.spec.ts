import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { read, ROOT } from './docs-pages.js';
import { faultsOf, plain } from './prose.js';

/** Shorter literals are names, keys and parts of protocols. */
const MIN_WORDS = 4;

const FILES = readdirSync(join(ROOT, 'lib'), { recursive: true, encoding: 'utf8' })
  .map(file => file.replaceAll('\\', '/'))
  .filter(file => file.endsWith('.ts') && !file.endsWith('.spec.ts'));

/** The comments of a source, each without its markup. Examples and code are left out. */
function commentsOf(source: string, file: ts.SourceFile): string[] {
  const ranges = new Map<number, ts.CommentRange>();
  const visit = (node: ts.Node): void => {
    const found = [
      ...(ts.getLeadingCommentRanges(source, node.pos) ?? []),
      ...(ts.getTrailingCommentRanges(source, node.end) ?? []),
    ];
    for (const range of found) ranges.set(range.pos, range);
    node.getChildren(file).forEach(visit);
  };
  visit(file);
  const comments: { text: string; end: number }[] = [];
  for (const { pos, end, kind } of [...ranges.values()].sort((one, other) => one.pos - other.pos)) {
    const last = comments.at(-1);
    const text = source.slice(pos, end);
    const isNext = kind === ts.SyntaxKind.SingleLineCommentTrivia && last?.text.startsWith('//');
    if (last && isNext && source.slice(last.end, pos).trim() === '') {
      Object.assign(last, { text: `${last.text}\n${text}`, end });
    } else comments.push({ text, end });
  }
  return comments.flatMap(({ text }) => paragraphsOf(text));
}

const paragraphsOf = (comment: string): string[] =>
  comment
    .replace(/^\/\*\*?|\*\/$/g, '')
    .replace(/^\s*(\/\/|\*(?!\/)) ?/gm, '')
    .replace(/@example[\s\S]*/, '')
    .replace(/^ {4}.*$/gm, '')
    .split(/\n\s*\n|\n(?=@)|\n(?=- )|\.\s+(?=@)/)
    .map(text => text.replace(/^\s*@(param \S+|\w+)/, '').replace(/\{@link (\S+?)\}/g, '$1'));

/** The sentences in string literals, with literals that are written in parts put together. */
function literalsOf(file: ts.SourceFile): string[] {
  const texts: string[] = [];
  const visit = (node: ts.Node): void => {
    const text = textOf(node);
    if (text === undefined) return ts.forEachChild(node, visit);
    // A literal with several lines is a script in another language; with commas but no spaces, it is a table.
    if (!/\n|\w,\w/.test(text) && text.split(' ').length >= MIN_WORDS) texts.push(text);
    if (ts.isTemplateExpression(node)) node.templateSpans.forEach(({ expression }) => visit(expression));
  };
  visit(file);
  return texts;
}

function textOf(node: ts.Node): string | undefined {
  if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node)) return node.text;
  if (ts.isTemplateExpression(node)) {
    return node.head.text + node.templateSpans.map(({ literal }) => `Code${literal.text}`).join('');
  }
  if (!ts.isBinaryExpression(node) || node.operatorToken.kind !== ts.SyntaxKind.PlusToken) return undefined;
  const [left, right] = [textOf(node.left), textOf(node.right)];
  return left === undefined || right === undefined ? undefined : left + right;
}

function faultsIn(source: string) {
  const file = ts.createSourceFile('source.ts', source, ts.ScriptTarget.Latest, true);
  return [...commentsOf(source, file), ...literalsOf(file)].map(plain).flatMap(faultsOf);
}

it('finds the files', () => {
  expect(FILES.length).toBeGreaterThan(200);
});

it('comments and messages are plain', () => {
  const faults = FILES.flatMap(file => faultsIn(read(`lib/${file}`)).map(found => ({ file, ...found })));
  expect(faults).toEqual([]);
});

describe('the check', () => {
  const long = `The server ${'very '.repeat(30)}much waits.`;

  it.each([
    ['/** What is sent. */\nlet a;', 'What'],
    ['/**\n * Sends it.\n * @returns whom it knows\n */\nlet a;', 'whom'],
    ['// The first line\n// is no line.\nlet a;', 'is no'],
    ['let a; // Of these, the first.', 'Of'],
    ["throw new Error('the name is no ' + 'name');", 'is no'],
    ['throw new Error(`${a} is no ${b} at all`);', 'is no'],
    ['call(`of ${call("it is known to nobody")} more`);', 'nobody'],
    [`/** ${long} */\nlet a;`, '34 words'],
  ])('finds the fault of %j', (source, fault) => {
    expect(faultsIn(source).map(found => found.fault)).toEqual([fault]);
  });

  it.each([
    ['/** Sends `what is no message`. */\nlet a;'],
    ['/**\n * Sends it.\n * @example\n * What is no sentence\n */\nlet a;'],
    ['/**\n * Sends it:\n *\n *     What is no sentence\n */\nlet a;'],
    ['let whom = "of its own";'],
    ['const script = `local a\nis no sentence at all`;'],
    ['/** It is no longer needed. */\nlet a;'],
  ])('passes %j', source => expect(faultsIn(source)).toEqual([]));
});
