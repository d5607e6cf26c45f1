// Checks each link and anchor of the built site, and of the Markdown files beside docs/: where it leads to must be there.
// Links to other sites are not followed.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import process from 'node:process';
import { slugify } from './slugify.mjs';

const root = join(import.meta.dirname, '../..');
const dist = join(root, 'docs/.vitepress/dist');

const unescape = text => text.replaceAll('&amp;', '&').replaceAll('&#39;', "'");
const matches = (text, pattern) => [...text.matchAll(pattern)].map(([, found]) => unescape(found));

const idsOf = new Map();
function hasAnchor(html, anchor) {
  if (!idsOf.has(html)) idsOf.set(html, new Set(matches(readFileSync(html, 'utf8'), /\sid="([^"]+)"/g)));
  return idsOf.get(html).has(anchor);
}

const isElsewhere = link => /^(\w+:|\/\/)/.test(link);

/** The file of the site that a link of one of its pages leads to. */
function inSite(page, path) {
  const target = path.startsWith('/') ? join(dist, path) : resolve(dirname(page), path);
  return path === '' ? page : path.endsWith('/') ? join(target, 'index.html') : target;
}

/** The file that a link in a Markdown file leads to; a page of docs/ is where the site has it, with its anchors. */
function inRepository(page, path) {
  const target = relative(root, path === '' ? page : resolve(dirname(page), path));
  return join(root, target.replace(/^docs\/((?:options\/)?[\w-]+)\.md$/, 'docs/.vitepress/dist/$1.html'));
}

const headings = file => matches(readFileSync(file, 'utf8'), /^#+ (.*)$/gm).map(slugify);

let checked = 0;
const broken = [];
function check(page, link, target, anchor) {
  checked += 1;
  const isThere =
    existsSync(target) &&
    (!anchor || (target.endsWith('.html') ? hasAnchor(target, anchor) : headings(target).includes(anchor)));
  if (!isThere) broken.push(`${relative(root, page)}: ${link}`);
}

function checkAll(page, links, targetOf) {
  for (const link of links) {
    if (isElsewhere(link)) continue;
    const [path, anchor = ''] = link.split('#').map(decodeURIComponent);
    check(page, link, targetOf(page, path), anchor);
  }
}

const filesOf = ending =>
  readdirSync(dist, { recursive: true, encoding: 'utf8' }).filter(file => file.endsWith(ending));

for (const file of filesOf('.html')) {
  const page = join(dist, file);
  if (file === '404.html') continue;
  checkAll(page, new Set(matches(readFileSync(page, 'utf8'), /\s(?:href|src)="([^"]+)"/g)), inSite);
}
for (const name of ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md']) {
  const page = join(root, name);
  checkAll(page, new Set(matches(readFileSync(page, 'utf8'), /\]\(([^)\s]+)\)/g)), inRepository);
}
checkAll(
  join(dist, 'llms.txt'),
  matches(readFileSync(join(dist, 'llms.txt'), 'utf8'), /\]\(([^)]+)\)/g),
  inSite,
);

for (const link of broken) console.error(`Broken: ${link}`);
console.log(`${checked} links checked, ${broken.length} broken`);
process.exitCode = checked === 0 || broken.length > 0 ? 1 : 0;
