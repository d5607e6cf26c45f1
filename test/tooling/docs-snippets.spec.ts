import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PAGES, read, ROOT } from './docs-pages.js';

/** A block of code: its indentation, its language, where it comes from, and its text. */
const BLOCK = /^( *)```(\w*) ?(\S*)\n([\s\S]*?)^ *```$/gm;

/** Command lines and diagrams; all other code comes from a file that is compiled, or that a run has written. */
const FREE = ['sh', 'mermaid'];

/** The lines of a region, or of the whole file, without markers and common indentation. */
function regionOf(source: string, region: string): string {
  const marker = /^\s*(?:\/\/|#|<!--) ?#(end)?region ([\w-]+)/;
  let lines = source.trimEnd().split('\n');
  if (region) {
    const at = (end?: string) =>
      lines.findIndex(line => marker.exec(line)?.[2] === region && marker.exec(line)?.[1] === end);
    const [from, to] = [at(), at('end')];
    if (from < 0 || to < from) throw new Error(`There is no region ${region}`);
    lines = lines.slice(from + 1, to);
  }
  lines = lines.filter(line => !marker.test(line) && !line.includes('eslint-disable'));
  const indentation = Math.min(...lines.filter(Boolean).map(line => line.search(/\S/)));
  return lines.map(line => line.slice(indentation)).join('\n');
}

/** The code of `docs/snippets/tools.ts#first,second`: the regions one after the other, or the file. */
function codeOf(source: string): string {
  const [file, regions = ''] = source.split('#');
  return regions
    .split(',')
    .map(region => regionOf(read(file), region).trim())
    .join('\n\n');
}

const indented = (text: string, indentation: string) => text.replaceAll(/^(?=.)/gm, indentation);

const withSnippets = (text: string) =>
  text.replaceAll(BLOCK, (whole, indentation: string, language: string, source: string) =>
    source ? indented(`\`\`\`${language} ${source}\n${codeOf(source)}\n\`\`\``, indentation) : whole,
  );

describe.each(PAGES)('the code of %s', page => {
  it('comes from files', () => {
    const free = [...read(page).matchAll(BLOCK)].filter(
      ([, , language, source]) => !FREE.includes(language) && !source,
    );
    expect(free.map(([whole]) => whole)).toEqual([]);
  });

  it('is up to date: `npm run docs:snippets` writes it', () => {
    const text = withSnippets(read(page));
    if (process.env.UPDATE_DOCS) writeFileSync(join(ROOT, page), text);
    expect(read(page)).toBe(text);
  });
});

describe('a region', () => {
  const source =
    'a\n  // #region one\n  b\n  // #region two\n    c\n  // #endregion two\n  // #endregion one\nd\n';

  it.each([
    ['', 'a\n  b\n    c\nd'],
    ['one', 'b\n  c'],
    ['two', 'c'],
  ])('%j is without markers and indentation', (region, code) => {
    expect(regionOf(source, region)).toBe(code);
  });

  it('that does not exist is an error', () => {
    expect(() => regionOf(source, 'three')).toThrow('There is no region three');
  });
});
