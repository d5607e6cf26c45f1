import { existsSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** A page of the site: its file without `.md`, and its name in the side bar. */
type Page = readonly [file: string, name: string];

/** The side bar. A page joins it when its file is there; a test fails if a file of docs/ is not listed. */
export const SECTIONS: Readonly<Record<string, readonly Page[]>> = {
  Begin: [
    ['start', 'Start in five minutes'],
    ['concepts', 'Concepts'],
    ['generating', 'Generate classes'],
    ['command-line', 'Command line'],
    ['cookbook', 'Cookbook'],
    ['samples', 'Samples'],
  ],
  Handlers: [
    ['tools', 'Tools'],
    ['controllers', 'Your controllers as tools'],
    ['prompts', 'Prompts'],
    ['resources', 'Resources'],
    ['parameters', 'Parameters and context'],
    ['schemas', 'Schemas'],
    ['enhancers', 'Guards, pipes, Nest interceptors, filters'],
    ['errors', 'Errors and results'],
    ['asking', 'Elicitation: ask the client'],
    ['replay', 'Multi-round calls: replay'],
    ['tasks', 'Long work: tasks'],
    ['apps', 'Views: MCP Apps'],
    ['skills', 'Skills'],
    ['toolsets', 'Hundreds of tools'],
    ['queues', 'Long work: queues'],
    ['header-parameters', 'Header parameters'],
    ['runtime', 'Handlers at run time'],
    ['extensions', 'Extensions of the protocol'],
  ],
  'Access and tests': [
    ['authorization', 'Authorization'],
    ['security', 'Security model'],
    ['testing', 'Testing'],
    ['explorer', 'Explorer'],
  ],
  Interceptors: [
    ['interceptors', 'Write an interceptor'],
    ['interceptor-policy', 'Policy'],
    ['ready-made', 'Ready-made interceptors'],
    ['remote-interceptors', 'Remote interceptors'],
    ['exposed-interceptors', 'Exposed interceptors'],
    ['interceptor-chains', 'Chains without a server'],
  ],
  'Clients and gateways': [
    ['clients', 'Clients'],
    ['gateway', 'Gateway'],
  ],
  Operation: [
    ['deploying', 'Deploying'],
    ['serverless', 'Serverless'],
    ['bundling', 'Bundling'],
    ['http', 'The HTTP endpoint'],
    ['stdio', 'stdio'],
    ['several-servers', 'Several servers'],
    ['sessions', 'Sessions'],
    ['several-nodes', 'Several nodes'],
    ['load-balancers', 'Load balancers'],
    ['limits', 'Limits'],
    ['shutdown', 'Shutting down'],
    ['telemetry', 'Telemetry'],
    ['performance', 'Performance'],
    ['troubleshooting', 'Troubleshooting'],
    ['faq', 'FAQ'],
  ],
  'Beside and before': [
    ['compare', 'Compare'],
    ['beside', 'Beside controllers, Swagger, GraphQL'],
    ['from-mcp-nest-1', 'Coming from @rekog/mcp-nest 1.x'],
    ['from-mcp-nest-2', 'Coming from @rekog/mcp-nest 2.x'],
    ['from-nestjs-mcp', 'Coming from @nestjs/mcp'],
  ],
};

export const DOCS = fileURLToPath(new URL('..', import.meta.url));

const isThere = ([file]: Page) => existsSync(`${DOCS}/${file}.md`);

/** The pages of a folder, one for each entry of the package; the page `main` is that of the main entry. */
const entries = (folder: string, main: string) =>
  readdirSync(`${DOCS}/${folder}`)
    .map(file => file.replace('.md', ''))
    .filter(entry => entry !== 'overview')
    .sort((a, b) => Number(b === main) - Number(a === main) || a.localeCompare(b))
    .map((entry): Page => [`${folder}/${entry}`, entry === main ? 'nestjs-mcp' : `nestjs-mcp/${entry}`]);

const groupsOf = (groups: Readonly<Record<string, readonly Page[]>>) =>
  Object.entries(groups).map(([text, pages]) => ({
    text,
    items: pages.filter(isThere).map(([file, name]) => ({ text: name, link: `/${file}` })),
  }));

export const GUIDE = groupsOf(SECTIONS);
export const REFERENCE = groupsOf({
  Options: [['options', 'All options'], ...entries('options', 'nestjs-mcp')],
  API: entries('api', 'index'),
});
export const sections = [...GUIDE, ...REFERENCE];
