import { readFileSync } from 'node:fs';

/**
 * The description of a page: the paragraph below its heading, as plain text.
 * @throws Error if the page does not begin with a paragraph
 */
export function purposeOf(file: string): string {
  const markdown = readFileSync(file, 'utf8');
  const [, api] = /^# (nestjs-mcp\S*)$/m.exec(markdown) ?? [];
  if (api) return `The classes, functions and types of ${api}, with their doc comments.`;
  const [, paragraph] = /^# .*\n\n(?=[\w`])((?:.+\n)+)/m.exec(markdown) ?? [];
  if (!paragraph) throw new Error(`${file}: the paragraph below the heading says what a page is for`);
  return paragraph
    .replaceAll(/\[(.*?)\]\(.*?\)/g, '$1')
    .replaceAll('`', '')
    .replaceAll(/\s+/g, ' ')
    .trim();
}
