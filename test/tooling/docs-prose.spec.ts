import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { PAGES, read, ROOT } from './docs-pages.js';
import { faultsOf, plain } from './prose.js';

/** Longest bullet, in lines. */
const MAX_LINES = 3;

/** The prose of a page: paragraphs, bullets, headings and cells, each without its markup. */
function textsOf(page: string): string[] {
  return page
    .replace(/^---\n[\s\S]*?\n---\n/, '')
    .replace(/<!--[\s\S]*?-->/g, '')
    .replace(/^( *)```[\s\S]*?^ *```$/gm, '\n')
    .replace(/^\|?[ :|-]+$/gm, '')
    .replace(/^(#+ |:::)(.*)$/gm, '\n$2\n')
    .replace(/^\s*([-*]|\d+\.) /gm, '\n')
    .split(/\n\s*\n|\||(?<=\|)\n/)
    .map(text =>
      plain(text)
        .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
        .replace(/[*_]{1,2}(\S.*?)[*_]{1,2}/gs, '$1'),
    )
    .filter(Boolean);
}

const faultsIn = (page: string) => textsOf(page).flatMap(faultsOf);

const longBulletsOf = (page: string) =>
  [...page.matchAll(/^[-*] .*(\n {2,}\S.*)*/gm)]
    .map(([bullet]) => bullet)
    .filter(bullet => bullet.split('\n').length > MAX_LINES);

describe.each(PAGES)('%s', path => {
  it('has plain sentences', () => {
    expect(faultsIn(read(path))).toEqual([]);
  });

  it(`has bullets of at most ${MAX_LINES} lines`, () => {
    expect(longBulletsOf(read(path))).toEqual([]);
  });
});

it('docs/options.md has plain sentences', () => {
  expect(faultsIn(read('docs/options.md'))).toEqual([]);
});

it('README.md has at most 1,500 words', () => {
  expect(read('README.md').split(/\s+/).length).toBeLessThanOrEqual(1_500);
});

it('the side bar has each page once', () => {
  const listed = [...read('docs/.vitepress/pages.mts').matchAll(/\['([\w-]+)', /g)].map(([, file]) => file);
  const files = readdirSync(join(ROOT, 'docs')).filter(file => file.endsWith('.md') && file !== 'index.md');
  expect(listed.filter((file, index) => listed.indexOf(file) !== index)).toEqual([]);
  expect(files.filter(file => !listed.includes(file.replace('.md', '')))).toEqual([]);
});

it('each page but the first starts with code', () => {
  const pages = PAGES.filter(page => page.startsWith('docs/') && page !== 'docs/index.md');
  expect(pages.filter(page => !/^# .*\n\n```/.test(read(page)))).toEqual([]);
});

describe('the check', () => {
  const long = `The server ${'very '.repeat(30)}much waits.`;

  it.each([
    ['What is sent is kept.', 'What'],
    ['First. Whoever calls is checked.', 'Whoever'],
    ['| a | The handler is no tool. |', 'is no'],
    ['- It returns.\n- Of these, the first.', 'Of'],
    [long, '34 words'],
  ])('finds the fault of %j', (text, fault) => {
    expect(faultsIn(text).map(found => found.fault)).toEqual([fault]);
  });

  it.each([
    ['Which one is it?'],
    ['```ts x\nWhat is sent\n```'],
    ['Use `What` here.'],
    ['| a | b |\n| --- | --- |'],
  ])('passes %j', text => expect(faultsIn(text)).toEqual([]));

  it('finds a bullet of four lines', () => {
    expect(longBulletsOf('- a\n  b\n  c\n  d\n\n- a\n  b\n')).toEqual(['- a\n  b\n  c\n  d']);
  });
});
