/* global document, window */
// Opens a page of each kind of the built site in Chromium: light, dark, on a tablet and on a phone. Fails on an error, on a request to
// another host, on a picture that does not load, and on a page that is wider than the window, has no Markdown beside it, or shares its
// description with another page. The pictures are in docs/.vitepress/screenshots.
import { createServer } from 'node:http';
import { readFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { once } from 'node:events';
import { extname, join, normalize } from 'node:path';
import process from 'node:process';
import { install } from '../../test/suites/conformance/support/install.mjs';

const docs = join(import.meta.dirname, '..');
const dist = join(docs, '.vitepress/dist');

const PAGES = [
  'index',
  'start',
  'concepts',
  'cookbook',
  'tools',
  'controllers',
  'tasks',
  'interceptors',
  'authorization',
  'several-nodes',
  'explorer',
  'performance',
  'compare',
  'faq',
  'options',
  'options/nestjs-mcp',
  'api/index',
];
const LOOKS = [
  { name: 'light', colorScheme: 'light', viewport: { width: 1280, height: 900 } },
  { name: 'dark', colorScheme: 'dark', viewport: { width: 1280, height: 900 } },
  { name: 'tablet', colorScheme: 'light', viewport: { width: 768, height: 1024 } },
  { name: 'narrow', colorScheme: 'light', viewport: { width: 390, height: 844 } },
];
const TYPES = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
};

const executablePath = [process.env.CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser'].find(
  path => path && existsSync(path),
);
if (!executablePath) {
  console.log('Chromium is not installed: the site was not opened. CHROMIUM names its path.');
  process.exit(0);
}

const server = createServer(async ({ url }, response) => {
  const path = normalize(new URL(url, 'http://localhost').pathname);
  const file = join(dist, path.endsWith('/') ? `${path}index.html` : path);
  const body = await readFile(file).catch(() => undefined);
  response.writeHead(body ? 200 : 404, { 'content-type': TYPES[extname(file)] ?? 'text/plain' });
  response.end(body);
}).listen(0, '127.0.0.1');
await once(server, 'listening');
const origin = `http://127.0.0.1:${server.address().port}`;

install(docs, ['install', '--no-save']);
const { chromium } = await import('playwright-core');
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
const faults = [];
const described = new Map();
let opened = 0;

async function open(path, { name, colorScheme, viewport }) {
  const page = await browser.newPage({ colorScheme, viewport });
  const fault = text => faults.push(`${path}, ${name}: ${text}`);
  page.on('pageerror', error => fault(error.message));
  page.on('console', message => message.type() === 'error' && fault(message.text()));
  page.on('request', request => {
    if (!request.url().startsWith(origin) && !request.url().startsWith('data:')) fault(request.url());
  });
  await page.goto(`${origin}/${path}.html`, { waitUntil: 'networkidle' });
  const seen = await page.evaluate(async () => ({
    isDark: document.documentElement.classList.contains('dark'),
    overflow: document.documentElement.scrollWidth - window.innerWidth,
    descriptions: ['meta[name="description"]', 'meta[property="og:description"]'].map(
      selector => document.querySelector(selector).content,
    ),
    broken: await Promise.all(
      [...document.images]
        .filter(image => image.checkVisibility())
        .map(image => {
          image.loading = 'eager';
          return image.decode().then(
            () => [],
            () => image.src,
          );
        }),
    ),
  }));
  if (seen.isDark !== (colorScheme === 'dark')) fault('has the wrong colours');
  const [description, shared] = seen.descriptions;
  if (!described.has(description)) described.set(description, path);
  if (described.get(description) !== path) fault(`has the description of ${described.get(description)}`);
  if (shared !== description) fault('has another description for Open Graph');
  for (const source of seen.broken.flat()) fault(`does not show ${source}`);
  const markdown = await page.request.get(`${origin}/${path}.md`);
  if (!markdown.ok() || !(await markdown.text()).includes('\n')) fault('has no Markdown');
  if (seen.overflow > 0) fault(`is ${seen.overflow} px wider than the window`);
  await page.screenshot({ path: join(docs, `.vitepress/screenshots/${path.replace('/', '-')}-${name}.png`) });
  await page.close();
  opened += 1;
}

async function search(words) {
  const page = await browser.newPage();
  await page.goto(`${origin}/start.html`, { waitUntil: 'networkidle' });
  await page.keyboard.press('Control+k');
  await page.locator('#localsearch-input').fill(words);
  const isFound = await page
    .locator('#localsearch-list a')
    .first()
    .waitFor({ timeout: 10_000 })
    .then(() => true)
    .catch(() => false);
  if (!isFound) faults.push(`the search finds nothing for "${words}"`);
  await page.close();
}

for (const look of LOOKS) for (const path of PAGES) await open(path, look);
await search('guard');
await browser.close();
server.close();

for (const fault of faults) console.error(fault);
console.log(`${opened} pictures of ${PAGES.length} pages, ${faults.length} faults`);
process.exitCode = faults.length > 0 ? 1 : 0;
