import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { read, ROOT } from './docs-pages.js';

it('the side bar has each page once', () => {
  const listed = [...read('docs/.vitepress/pages.mts').matchAll(/\['([\w-]+)', /g)].map(([, file]) => file);
  const files = readdirSync(join(ROOT, 'docs')).filter(file => file.endsWith('.md') && file !== 'index.md');
  expect(listed.filter((file, index) => listed.indexOf(file) !== index)).toEqual([]);
  expect(files.filter(file => !listed.includes(file.replace('.md', '')))).toEqual([]);
});
