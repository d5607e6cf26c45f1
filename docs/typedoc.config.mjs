import { readFileSync } from 'node:fs';

const { exports } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
const entries = Object.keys(exports).filter(entry => !entry.endsWith('.json'));

/** @type {Partial<import('typedoc').TypeDocOptions & import('typedoc-plugin-markdown').PluginOptions>} */
export default {
  plugin: ['typedoc-plugin-markdown'],
  entryPoints: entries.map(entry => `../lib/${entry}/index.ts`),
  tsconfig: '../tsconfig.build.json',
  // The compiler of the package checks the types.
  skipErrorChecking: true,
  out: 'api',
  router: 'module',
  readme: 'none',
  name: 'API',
  excludeInternal: true,
  excludePrivate: true,
  excludeExternals: true,
  disableSources: true,
  hidePageHeader: true,
  hideBreadcrumbs: true,
  // The main entry takes the place of `index`.
  entryFileName: 'overview',
  validation: { notExported: false, invalidLink: false },
  parametersFormat: 'table',
  interfacePropertiesFormat: 'table',
  typeDeclarationFormat: 'table',
  useCodeBlocks: true,
  useHTMLAnchors: true,
  pageTitleTemplates: { module: ({ name }) => (name === 'index' ? 'nestjs-mcp' : `nestjs-mcp/${name}`) },
};
