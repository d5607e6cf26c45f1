import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export const ROOT = join(__dirname, '../..');

/** Pages that a program writes from the doc comments. */
const WRITTEN = ['docs/options.md'];

/** The pages that people write: their paths, from the root of the repository. */
export const PAGES: readonly string[] = [
  'README.md',
  ...readdirSync(join(ROOT, 'docs'))
    .filter(file => file.endsWith('.md'))
    .map(file => `docs/${file}`),
].filter(page => !WRITTEN.includes(page));

export const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
