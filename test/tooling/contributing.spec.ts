import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { read, ROOT } from './docs-pages.js';

/** The files that CONTRIBUTING.md names: a path with an ending, from the root or from `lib/`. */
const FILES = [...read('CONTRIBUTING.md').matchAll(/`([\w./-]+\/[\w.-]+\.(?:ts|mts|mjs|md|json))`/g)].map(
  ([, file]) => file,
);

it('CONTRIBUTING.md names files that exist', () => {
  const exists = (file: string) => ['', 'lib'].some(folder => existsSync(join(ROOT, folder, file)));
  expect(FILES.length).toBeGreaterThan(5);
  expect(FILES.filter(file => !exists(file))).toEqual([]);
});
