import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { read, ROOT } from './docs-pages.js';

/** The text of `lib/`, with literals that are written in two parts put together. */
const source = readdirSync(join(ROOT, 'lib'), { recursive: true, encoding: 'utf8' })
  .filter(file => file.endsWith('.ts') && !file.endsWith('.spec.ts'))
  .map(file => read(join('lib', file)))
  .join('\n')
  .replace(/['`] \+\s*['`]/g, '');

/** The messages of the tables: first cells that are code. */
const messages = [...read('docs/troubleshooting.md').matchAll(/^\| `([^`]+)` +\|/gm)].map(
  ([, message]) => message,
);

it('the page has messages', () => {
  expect(messages.length).toBeGreaterThan(50);
});

it.each(messages)('the package says %j', message => {
  const parts = message
    .split('…')
    .map(part => part.trim().replace(/^"|"$/g, ''))
    .filter(part => part.trim().length > 1);
  expect(parts.filter(part => !source.includes(part))).toEqual([]);
});
