import type { ApplicationConfig } from '@nestjs/core';
import type { Entry } from '../../catalog/entries.js';
import { enhancerSteps } from '../../execution/enhancer-steps.js';
import { deadHooks } from './hooks.js';
import type { InterceptorLoader } from '../../module/interceptor-loader.js';
import type { McpServerInstance } from '../../server/mcp-server-instance.js';
import type { Finding, Findings } from '../api.js';
import { currentChain } from './chain.js';
import { schemaProblems } from './schema-problems.js';

/** Some hosts cut a description here, in characters. */
const MAX_DESCRIPTION = 1024;

/** The names that hosts accept if they pass them to a model as functions. */
const NAME = /^[\w-]{1,64}$/;

type Told = Pick<Finding, 'rule' | 'message' | 'remedy'>;

export async function findingsOf(
  servers: readonly McpServerInstance[],
  loader: InterceptorLoader,
  config: ApplicationConfig,
): Promise<Findings> {
  const found = await Promise.all(
    servers.map(async server => [...serverFindings(server, config), ...(await hookFindings(server, loader))]),
  );
  return { findings: found.flat() };
}

function serverFindings(server: McpServerInstance, config: ApplicationConfig): Finding[] {
  const { name } = server.options;
  const entries = [...server.table.enabled()].filter(({ kind }) => kind !== 'completion');
  const tools = entries.filter(({ kind }) => kind === 'tool');
  const unguarded = unguardedOf(server, tools, config);
  return entries.flatMap(entry =>
    [...about(entry), ...(unguarded.has(entry) ? [UNGUARDED] : [])].map(told => ({
      ...told,
      server: name,
      kind: entry.kind,
      subject: entry.key,
    })),
  );
}

function about(entry: Entry): Told[] {
  const { kind, key } = entry;
  const definition = 'definition' in entry ? entry.definition : undefined;
  const { description = '' } = definition ?? {};
  const found: Told[] = [];
  if (description.trim() === '') {
    found.push({
      rule: 'no-description',
      message: `The ${kind} has no description`,
      remedy: 'Say in "description" what it does and when to use it.',
    });
  }
  if (description.length > MAX_DESCRIPTION) {
    found.push({
      rule: 'long-description',
      message: `The description has ${description.length} characters; some hosts cut it after ${MAX_DESCRIPTION}`,
      remedy: 'Shorten it, or move details into the descriptions of the arguments.',
    });
  }
  if ((kind === 'tool' || kind === 'prompt') && !NAME.test(key)) {
    found.push({
      rule: 'name',
      message: 'Some hosts reject the name',
      remedy: 'Use 1 to 64 letters, digits, "_" and "-".',
    });
  }
  if (kind !== 'tool') return found;
  if (!entry.definition.annotations) {
    found.push({
      rule: 'no-annotations',
      message: 'The tool has no annotations, so hosts take it for destructive',
      remedy: 'Set "annotations", such as { readOnlyHint: true }.',
    });
  }
  for (const problem of schemaProblems(entry.definition.inputSchema))
    found.push({ rule: 'schema', ...problem });
  return found;
}

const UNGUARDED: Told = {
  rule: 'unguarded',
  message: 'The tool has no guard, scope or @Visible, while other tools of the server have one',
  remedy: 'Guard it, or mark it with @AllowAnonymous() if it is for everybody.',
};

/** Global guards are around all tools alike, and so is the login that `McpAuthModule` demands. */
function unguardedOf(
  { permissions }: McpServerInstance,
  tools: readonly Entry[],
  config: ApplicationConfig,
): ReadonlySet<Entry> {
  if (permissions?.anonymous === false) return new Set();
  const isGuarded = ({ run, requirement }: Entry) =>
    run.hidingGuard !== undefined ||
    (requirement?.scopes.length ?? 0) > 0 ||
    enhancerSteps(run.plan, config).some(({ kind, level }) => kind === 'guard' && level !== 'global');
  const bare = tools.filter(tool => !isGuarded(tool) && tool.requirement?.anonymous !== true);
  return new Set(bare.length < tools.length ? bare : []);
}

async function hookFindings(server: McpServerInstance, loader: InterceptorLoader): Promise<Finding[]> {
  const chain = await currentChain(await loader.chainOf(server.options));
  const entries = chain?.entries ?? [];
  return entries.flatMap(entry =>
    deadHooks(entry).map(message => ({
      rule: 'hook-never-matches' as const,
      server: server.options.name,
      subject: entry.name,
      message,
      remedy: 'Name an event that happens, or remove the hook.',
    })),
  );
}
