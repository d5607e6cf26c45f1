import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import ts from 'typescript';
import { ENTRIES, LIB } from './entries.js';

const parse = (path: string) =>
  ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest, true);

/** The values that an entry exports, each with its file: decorators, modules, classes and functions. */
function valuesOf(entry: string): [name: string, file: string][] {
  const path = join(LIB, entry, 'index.ts');
  return parse(path).statements.flatMap(statement => {
    if (!ts.isExportDeclaration(statement) || statement.isTypeOnly) return [];
    const { exportClause, moduleSpecifier } = statement;
    if (!exportClause || !ts.isNamedExports(exportClause) || !moduleSpecifier) return [];
    const file = join(dirname(path), (moduleSpecifier as ts.StringLiteral).text.replace(/\.js$/, '.ts'));
    return exportClause.elements
      .filter(({ isTypeOnly }) => !isTypeOnly)
      .map(({ name }): [string, string] => [name.text, file]);
  });
}

const isText = (node: ts.Node): boolean =>
  ts.isVariableStatement(node) &&
  node.declarationList.declarations.some(({ initializer }) => initializer && ts.isStringLiteral(initializer));

const namesOf = (node: ts.Statement): (string | undefined)[] =>
  ts.isVariableStatement(node)
    ? node.declarationList.declarations.map(({ name }) => name.getText())
    : ts.isClassDeclaration(node) || ts.isFunctionDeclaration(node)
      ? [node.name?.text]
      : [];

/** The declarations of a name: overloads have several. */
const declarationsOf = (name: string, file: string): ts.Statement[] =>
  parse(file).statements.filter(node => namesOf(node).includes(name));

/** A name of a text, such as a key of `_meta`, needs no example. */
const lacksExample = ([name, file]: [string, string]): boolean => {
  const declarations = declarationsOf(name, file);
  if (declarations.length === 0) throw new Error(`${file} does not declare ${name}`);
  return !declarations.some(
    node => isText(node) || ts.getJSDocTags(node).some(({ tagName }) => tagName.text === 'example'),
  );
};

it.each(ENTRIES)('each value that %s exports has an @example', entry => {
  const values = valuesOf(entry);
  expect(values.length).toBeGreaterThan(0);
  expect(values.filter(lacksExample).map(([name]) => name)).toEqual([]);
});
