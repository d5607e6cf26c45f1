import { defineConfig } from 'vitepress';
import { writeForModels } from './llms.mjs';
import { sections } from './pages.mjs';
import { slugify } from '../tools/slugify.mjs';

export default defineConfig({
  title: 'nestjs-mcp',
  description: 'Model Context Protocol for NestJS: tools, prompts and resources as decorated providers.',
  lang: 'en',
  head: [['link', { rel: 'icon', href: '/logo.svg', type: 'image/svg+xml' }]],
  srcExclude: ['snippets/**'],
  lastUpdated: false,
  markdown: { anchor: { slugify }, toc: { slugify } },
  themeConfig: {
    logo: '/logo.svg',
    search: { provider: 'local' },
    outline: [2, 3],
    sidebar: [...sections],
    // The Markdown of a page lies beside its HTML.
    editLink: { pattern: '/:path', text: 'This page as Markdown' },
  },
  buildEnd: config => writeForModels(config, sections),
});
