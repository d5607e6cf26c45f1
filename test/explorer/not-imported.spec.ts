import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import ts from 'typescript';

const LIB = join(__dirname, '../../lib');
const { exports } = JSON.parse(readFileSync(join(LIB, '../package.json'), 'utf8')) as { exports: object };

/** The files that an entry loads, at once or later. */
function reachedFrom(entry: string): Set<string> {
  const reached = new Set<string>();
  const queue = [entry];
  for (let file = queue.pop(); file !== undefined; file = queue.pop()) {
    if (reached.has(file)) continue;
    reached.add(file);
    const { importedFiles } = ts.preProcessFile(readFileSync(file, 'utf8'));
    const own = importedFiles.filter(({ fileName }) => fileName.startsWith('.'));
    queue.push(...own.map(({ fileName }) => join(dirname(file), fileName.replace(/\.(m?)js$/, '.$1ts'))));
  }
  return reached;
}

const entries = Object.keys(exports)
  .filter(entry => !entry.endsWith('.json') && entry !== './explorer')
  .map(entry => join(LIB, entry, 'index.ts'));

it.each(entries.map(entry => [relative(LIB, entry), entry]))(
  '%s loads nothing of the explorer',
  (_, entry) => {
    const reached = [...reachedFrom(entry)];
    expect(reached.length).toBeGreaterThan(3);
    expect(reached.filter(file => relative(LIB, file).startsWith('explorer'))).toEqual([]);
  },
);

it('the explorer has files to find', () => {
  expect(readdirSync(join(LIB, 'explorer')).length).toBeGreaterThan(3);
});
