import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';

const LIB = join(__dirname, '../../lib');

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

const ENTRIES = [
  '.',
  'auth',
  'client',
  'explorer',
  'gateway',
  'interceptors',
  'redis',
  'telemetry',
  'testing',
];
const names = ENTRIES.map(namesOf);

it('the main entry exports at most 76 names', () => {
  expect(names[0].length).toBeLessThanOrEqual(76);
});

it('the entries export at most 172 names together, each once', () => {
  const all = names.flat();
  expect(all.length).toBeLessThanOrEqual(172);
  expect(all.filter((name, index) => all.indexOf(name) !== index)).toEqual([]);
});
