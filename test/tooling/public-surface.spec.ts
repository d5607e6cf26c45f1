import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { ENTRIES, LIB } from './entries.js';

/** The names that an entry exports, types included. */
function namesOf(entry: string): string[] {
  const path = join(LIB, entry, 'index.ts');
  const { statements } = ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest);
  return statements.flatMap(statement => {
    if (!ts.isExportDeclaration(statement) || !statement.exportClause) {
      throw new Error(`${path} has more than lists of exported names`);
    }
    return ts.isNamedExports(statement.exportClause)
      ? statement.exportClause.elements.map(({ name }) => name.text)
      : [statement.exportClause.name.text];
  });
}

it('no two entries export the same name', () => {
  const all = ENTRIES.flatMap(namesOf);
  expect(all.filter((name, index) => all.indexOf(name) !== index)).toEqual([]);
});

it('each entry has its types for every module resolution', () => {
  const { exports, typesVersions } = JSON.parse(readFileSync(join(LIB, '../package.json'), 'utf8'));
  const entries = ENTRIES.filter(entry => entry !== '.').sort();
  expect(Object.keys(typesVersions['*']).sort()).toEqual(entries);
  expect(Object.keys(exports).sort()).toEqual(
    ['.', './package.json', ...entries.map(entry => `./${entry}`)].sort(),
  );
});
