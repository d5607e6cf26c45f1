import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig, type HeadConfig } from 'vitepress';
import { writeForModels } from './llms.mjs';
import { DOCS, GUIDE, REFERENCE, sections } from './pages.mjs';
import { showInBothLooks } from './pictures.mjs';
import { purposeOf } from './purpose.mjs';
import { sequenceOf } from './sequence.mjs';
import { slugify } from '../tools/slugify.mjs';

const { version, homepage } = JSON.parse(
  readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
) as { readonly version: string; readonly homepage?: string };

export default defineConfig({
  title: 'nestjs-mcp',
  description: 'Model Context Protocol for NestJS: tools, prompts and resources as decorated providers.',
  lang: 'en',
  head: [['link', { rel: 'icon', href: '/logo.svg', type: 'image/svg+xml' }]],
  srcExclude: ['snippets/**', 'api/overview.md'],
  lastUpdated: true,
  // The address of the site is known when `homepage` of package.json is set, which a release demands.
  ...(homepage !== undefined && { sitemap: { hostname: homepage } }),
  transformPageData({ filePath, frontmatter }) {
    if (frontmatter.layout === 'home') return;
    // A table of five columns takes the place of the outline.
    if (filePath === 'compare.md') frontmatter.aside = false;
    if (filePath.startsWith('options')) frontmatter.pageClass = 'options';
    return { description: purposeOf(join(DOCS, filePath)) };
  },
  transformHead({ page, title, description }) {
    const path = page.replace(/(^|\/)index\.md$/, '$1').replace(/\.md$/, '.html');
    const meta = {
      'og:type': 'article',
      'og:site_name': 'nestjs-mcp',
      'og:title': title,
      'og:description': description,
    };
    const tags = Object.entries(meta).map(([property, content]): HeadConfig => [
      'meta',
      { property, content },
    ]);
    if (homepage === undefined) return tags;
    const { href } = new URL(path, homepage);
    return [...tags, ['meta', { property: 'og:url', content: href }], ['link', { rel: 'canonical', href }]];
  },
  markdown: {
    anchor: { slugify },
    toc: { slugify },
    config(md) {
      const fence = md.renderer.rules.fence!;
      md.renderer.rules.fence = (tokens, index, ...rest) =>
        tokens[index].info === 'mermaid' ? sequenceOf(tokens[index].content) : fence(tokens, index, ...rest);
      showInBothLooks(md);
    },
  },
  themeConfig: {
    logo: '/logo.svg',
    search: { provider: 'local' },
    outline: [2, 3],
    nav: [
      { text: 'Guide', link: '/start', activeMatch: '^/(?!api/|options|compare|$)' },
      { text: 'Reference', link: '/options', activeMatch: '^/(api/|options)' },
      { text: 'Compare', link: '/compare' },
      { text: `v${version}`, link: '/start#packages-and-versions' },
    ],
    sidebar: { '/options': REFERENCE, '/api/': REFERENCE, '/': GUIDE },
    // The Markdown of a page lies beside its HTML.
    editLink: { pattern: '/:path', text: 'This page as Markdown' },
  },
  buildEnd: config => writeForModels(config, sections),
});
