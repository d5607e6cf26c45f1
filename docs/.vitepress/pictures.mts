import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { MarkdownRenderer } from 'vitepress';
import { DOCS } from './pages.mjs';

/**
 * Beside `name.png`, `name-dark.png` is the picture for the dark look: a page shows the one that fits its look.
 * A chart has one file, whose colours the dark look turns round.
 */
export function showInBothLooks(md: MarkdownRenderer): void {
  const image = md.renderer.rules.image!;
  md.renderer.rules.image = (tokens, index, ...rest) => {
    const token = tokens[index];
    const light = token.attrGet('src')!;
    if (light.endsWith('.svg')) token.attrSet('class', 'chart');
    const dark = light.replace(/\.png$/, '-dark.png');
    if (dark === light || !existsSync(join(DOCS, dark))) return image(tokens, index, ...rest);
    return [
      ['light', light],
      ['dark', dark],
    ]
      .map(([look, source]) => {
        token.attrSet('src', source);
        token.attrSet('class', `${look}-only`);
        token.attrSet('loading', 'lazy');
        return image(tokens, index, ...rest);
      })
      .join('');
  };
}
