import { cp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { SiteConfig } from 'vitepress';
import { purposeOf } from './purpose.mjs';

interface Group {
  readonly text: string;
  readonly items: readonly { readonly text: string; readonly link: string }[];
}

/** Writes `llms.txt`, `llms-full.txt` (without the API) and the Markdown of each page beside its HTML. */
export async function writeForModels({ srcDir, outDir, site, pages }: SiteConfig, groups: readonly Group[]) {
  await Promise.all(pages.map(page => cp(join(srcDir, page), join(outDir, page))));
  const head = `# ${site.title}\n\n> ${site.description}\n`;
  const links = groups.map(({ text, items }) => {
    const lines = items.map(
      item => `- [${item.text}](${item.link}.md): ${purposeOf(join(srcDir, `${item.link}.md`))}`,
    );
    return `## ${text}\n\n${lines.join('\n')}\n`;
  });
  const bodies = groups
    .filter(({ text }) => text !== 'API')
    .flatMap(({ items }) => items)
    .map(({ link }) => readFile(join(srcDir, `${link}.md`), 'utf8'));
  await writeFile(join(outDir, 'llms.txt'), [head, ...links].join('\n'));
  await writeFile(join(outDir, 'llms-full.txt'), [head, ...(await Promise.all(bodies))].join('\n'));
}
