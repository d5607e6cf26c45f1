import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import ts from 'typescript';
import { describe as describeSchema } from '../../lib/options/check-options.js';
import type { OptionSchema } from '../../lib/options/option-schema.js';
import { PAGES, type Section } from './options-pages.js';

const DOCS = resolve(__dirname, '../../docs');
const LIB = resolve(__dirname, '../../lib');

const WRITTEN = '<!-- `npm run docs:options` writes this page from the schemas that check the options. -->\n';

const ENTRIES = Object.keys(PAGES);
const nameOf = (entry: string) => (entry === ENTRIES[0] ? entry : `nestjs-mcp/${entry}`);

const INDEX = `${WRITTEN}
# Options

Each entry of the package has a page of its options, with their values, their defaults and their meaning. An option that is
unknown or wrong stops the start with an error that names it.

| Entry | Options |
| --- | --- |
${ENTRIES.map(indexRow).join('\n')}
`;

it('docs/options.md is up to date', () => {
  expectUpToDate('options.md', INDEX);
});

it('docs/options/ has no other pages', () => {
  expect(readdirSync(resolve(DOCS, 'options')).sort()).toEqual(ENTRIES.map(entry => `${entry}.md`).sort());
});

describe('a page of options', () => {
  const docs = docComments();

  it.each(ENTRIES)('%s is up to date', entry => {
    const { purpose, sections } = PAGES[entry];
    const tables = sections.map(section => tableOf(entry, section, docs));
    const text = [WRITTEN, `# Options of \`${nameOf(entry)}\`\n`, `${purpose}\n`, ...tables].join('\n');
    expectUpToDate(`options/${entry}.md`, text);
  });
});

function expectUpToDate(file: string, text: string): void {
  const path = resolve(DOCS, file);
  if (process.env.UPDATE_DOCS) writeFileSync(path, text);
  expect(readFileSync(path, 'utf8')).toBe(text);
}

function indexRow(entry: string): string {
  const page = `options/${entry}.md`;
  const links = PAGES[entry].sections.map(([heading]) => linkTo(page, heading));
  return `| [\`${nameOf(entry)}\`](${page}) | ${links.join(', ')} |`;
}

/** As `slugify` of the site makes it. */
function anchorOf(heading: string): string {
  const words = heading.toLowerCase().replaceAll(/[^\w -]/g, '');
  return words.replaceAll(' ', '-');
}

function linkTo(page: string, heading: string): string {
  return `[\`${heading}\`](${page}#${anchorOf(heading)})`;
}

type Docs = ReadonlyMap<string, ReadonlyMap<string, string>>;

function tableOf(entry: string, [heading, schema, ...types]: Section, docs: Docs): string {
  const { properties = {}, required = [] } = schema as OptionSchema;
  const rows = Object.entries(properties).map(([name, one]) => {
    const [, meaning, byDefault = ''] = /^(.*?)\s*(?:Default: (.*?)\.?)?$/s.exec(docOf(types, name, docs))!;
    expectSaid(`${heading}: ${name}`, byDefault, one.default);
    const cells = [
      `\`${name}\``,
      meaning,
      required.includes(name) ? 'required' : byDefault,
      valueOf(entry, one),
    ];
    return `| ${cells.map(cell => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  });
  return [
    `## \`${heading}\`\n`,
    '| Option | Meaning | Default | Value |',
    '| --- | --- | --- | --- |',
    ...rows,
    '',
  ].join('\n');
}

/** An option that has a table is not described twice. */
function valueOf(entry: string, schema: OptionSchema): string {
  const whole = [schema, ...(schema.anyOf ?? [])].find(({ properties }) => properties);
  for (const [other, { sections }] of Object.entries(PAGES)) {
    const section = sections.find(([, one]) => (one as OptionSchema).properties === whole?.properties);
    if (whole && section) {
      const link = linkTo(other === entry ? '' : `${other}.md`, section[0]);
      return `${schema.description ?? 'an object'}: see ${link}`;
    }
  }
  return describeSchema(schema);
}

function docOf(types: readonly string[], name: string, docs: Docs): string {
  const doc = types.map(type => docs.get(type)?.get(name)).find(text => text !== undefined);
  if (doc === undefined && types.length > 0)
    throw new Error(`${types.join(', ')}: ${name} has no doc comment`);
  return doc ?? '';
}

/** The doc comment of an option says the default that its schema fills in. */
function expectSaid(option: string, said: string, value: unknown): void {
  if (!['string', 'boolean', 'number'].includes(typeof value)) return;
  const word =
    typeof value === 'number'
      ? value.toLocaleString('en', { maximumFractionDigits: 9 })
      : `${value as string | boolean}`;
  expect({ option, said }).toEqual({ option, said: expect.stringContaining(word) });
}

/** What the doc comments of `lib/` say of the members of its types. */
function docComments(): Docs {
  const docs = new Map<string, Map<string, string>>();
  for (const file of readdirSync(LIB, { recursive: true, encoding: 'utf8' })) {
    if (!file.endsWith('.ts') || file.endsWith('.spec.ts')) continue;
    const text = readFileSync(resolve(LIB, file), 'utf8');
    const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
    for (const type of source.statements) {
      if (!ts.isInterfaceDeclaration(type) && !ts.isTypeAliasDeclaration(type)) continue;
      const members = docs.get(type.name.text) ?? new Map<string, string>();
      const visit = (node: ts.Node): void => {
        if (ts.isPropertySignature(node)) members.set(node.name.getText(), commentOf(node));
        else ts.forEachChild(node, visit);
      };
      visit(type);
      docs.set(type.name.text, members);
    }
  }
  return docs;
}

function commentOf(node: ts.PropertySignature): string {
  const [doc] = ts.getJSDocCommentsAndTags(node);
  return (ts.getTextOfJSDocComment(doc?.comment) ?? '').replace(/\s+/g, ' ');
}
