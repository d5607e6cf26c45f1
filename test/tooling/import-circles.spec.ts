import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import ts from 'typescript';

type Graph = ReadonlyMap<string, readonly string[]>;

const LIB = join(__dirname, '../../lib');

/** The files that a source imports, for its types or for its values. */
const importsIn = (file: string, source: string): string[] =>
  ts
    .preProcessFile(source)
    .importedFiles.filter(({ fileName }) => fileName.startsWith('.'))
    .map(({ fileName }) => join(dirname(file), fileName).replace(/\.js$/, '.ts'));

function graphOfLib(): Graph {
  const files = readdirSync(LIB, { recursive: true, encoding: 'utf8' }).filter(file =>
    /\.(ts|mjs)$/.test(file),
  );
  return new Map(files.map(file => [file, importsIn(file, readFileSync(join(LIB, file), 'utf8'))]));
}

/** The files of one circle, each of which imports the next; empty if there is no circle. */
function circleIn(graph: Graph): string[] {
  const done = new Set<string>();
  const walk = (file: string, path: string[]): string[] => {
    if (path.includes(file)) return path.slice(path.indexOf(file));
    if (done.has(file)) return [];
    for (const next of graph.get(file) ?? []) {
      const circle = walk(next, [...path, file]);
      if (circle.length > 0) return circle;
    }
    done.add(file);
    return [];
  };
  for (const file of graph.keys()) {
    const circle = walk(file, []);
    if (circle.length > 0) return circle;
  }
  return [];
}

describe('the imports of lib/', () => {
  it('lead to files that are there', () => {
    const graph = graphOfLib();
    const inLib = [...graph.values()].flat().filter(file => !file.startsWith('..'));
    expect(graph.size).toBeGreaterThan(200);
    expect(inLib.filter(file => !graph.has(file))).toEqual([]);
  });

  it('run in no circle', () => {
    expect(circleIn(graphOfLib())).toEqual([]);
  });
});

describe('the search for circles', () => {
  it.each([
    ["import { a } from './b.js';"],
    ["import type { A } from './b.js';"],
    ["export type { A } from './b.js';"],
    ["export const load = () => import('./b.js');"],
  ])('follows %s', source => {
    expect(importsIn('a.ts', source)).toEqual(['b.ts']);
  });

  it('finds the files of a circle, and not those that lead to it', () => {
    const graph = new Map([
      ['a', ['b']],
      ['b', ['c', 'd']],
      ['c', []],
      ['d', ['c', 'e']],
      ['e', ['b']],
    ]);
    expect(circleIn(graph)).toEqual(['b', 'd', 'e']);
  });
});
