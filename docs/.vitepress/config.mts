import { readFileSync } from 'node:fs';
import { defineConfig } from 'vitepress';
import { writeForModels } from './llms.mjs';
import { sections } from './pages.mjs';
import { sequenceOf } from './sequence.mjs';
import { slugify } from '../tools/slugify.mjs';

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

export default defineConfig({
  title: 'nestjs-mcp',
  description: 'Model Context Protocol for NestJS: tools, prompts and resources as decorated providers.',
  lang: 'en',
  head: [['link', { rel: 'icon', href: '/logo.svg', type: 'image/svg+xml' }]],
  srcExclude: ['snippets/**'],
  lastUpdated: false,
  markdown: {
    anchor: { slugify },
    toc: { slugify },
    config(md) {
      const fence = md.renderer.rules.fence!;
      md.renderer.rules.fence = (tokens, index, ...rest) =>
        tokens[index].info === 'mermaid' ? sequenceOf(tokens[index].content) : fence(tokens, index, ...rest);
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
    sidebar: [...sections],
    // The Markdown of a page lies beside its HTML.
    editLink: { pattern: '/:path', text: 'This page as Markdown' },
  },
  buildEnd: config => writeForModels(config, sections),
});
