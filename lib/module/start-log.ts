import type { Server } from 'node:http';
import { Logger } from '@nestjs/common';
import type { Entry } from '../catalog/entries.js';
import type { ResolvedOptions } from '../server/server-options.js';
import { originOf } from '../protocol/origin-of.js';
import type { McpServerInstance } from '../server/mcp-server-instance.js';
import { MemoryMrtrStore } from '../stores/mrtr-store.js';
import { LOOPBACK } from './resolve-server-options.js';

type Environment = Readonly<Record<string, string | undefined>>;

/** Environments that stop or replace an instance between requests, by a variable that their documentation promises. */
const SERVERLESS = {
  AWS_LAMBDA_FUNCTION_NAME: 'AWS Lambda',
  FUNCTION_TARGET: 'Google Cloud Functions',
  VERCEL: 'Vercel',
} as const;

/**
 * Logs what a server offers, where, and how callers log in. Its handlers are logged at verbose level.
 * @param environment of the process, for warnings
 */
export function logStart(host: McpServerInstance, environment: Environment): void {
  const { options, handlers, paths } = host;
  const logger = new Logger(`McpModule(${options.name})`);
  const server = `MCP ${handlers.isRemote ? 'gateway' : 'server'} "${options.name}" ${transportsOf(options, paths)}`;
  const { tools, prompts, resources, resourceTemplates } = host.catalog;
  const offered = [
    counted(tools.size, 'tool'),
    counted(prompts.size, 'prompt'),
    counted(resources.size, 'resource'),
    counted(resourceTemplates.size, 'resource template'),
    host.extensions.offered,
  ].flat();
  if (handlers.isRemote) logger.log(server);
  else if (offered.length > 0) logger.log(`${server}: ${offered.join(', ')}`);
  else if (options.interceptors.expose || Object.values(options.capabilities).includes(true)) {
    logger.log(`${server}: no handlers yet`);
  } else {
    logger.warn(
      `${server} has no handlers: list the classes with @Tool(), @Prompt() or @Resource() methods in the "providers" of a module`,
    );
  }
  for (const line of host.extensions.startLines) logger.log(line);
  for (const warning of startWarnings(host, environment)) logger.warn(warning);
  for (const entry of host.table.enabled()) logger.verbose(`${titleOf(entry)}: ${entry.where}`);
}

export function logListening({ options, paths }: McpServerInstance, server: Server): void {
  const origin = originOf(server);
  if (origin === undefined || paths.length === 0) return;
  new Logger(`McpModule(${options.name})`).log(`Listening at ${paths.map(path => origin + path).join(', ')}`);
}

/** Describes the transports of a server, with their revisions. */
export function transportsOf(
  { http, stdio, legacy }: Pick<ResolvedOptions, 'http' | 'stdio' | 'legacy'>,
  paths: readonly string[],
): string {
  const era2025 = legacy === 'reject' ? '' : ', 2025';
  const mode = legacy === 'reject' ? '' : ` ${legacy}`;
  const transports = [
    // Without a path, the application has no HTTP server.
    ...(http && paths.length > 0 ? [`at ${paths.join(', ')} (2026-07-28${era2025}${mode})`] : []),
    ...(stdio ? [`over stdio (2026-07-28${era2025})`] : []),
  ];
  return transports.join(' and ') || 'without a transport';
}

const counted = (count: number, what: string): string[] =>
  count === 0 ? [] : [`${count} ${what}${count === 1 ? '' : 's'}`];

function titleOf(entry: Entry): string {
  if (entry.kind !== 'completion') return `${entry.kind} "${entry.key}"`;
  const { prompt, resourceTemplate, argument } = entry.ref;
  const completed = prompt === undefined ? `resource template "${resourceTemplate}"` : `prompt "${prompt}"`;
  return `completion of "${argument}" of the ${completed}`;
}

/** Options that work on a developer's machine, and not where the process runs now. */
function startWarnings(host: McpServerInstance, environment: Environment): string[] {
  return [
    ...(environment['NODE_ENV'] === 'production' ? [...localOnly(host), ...unsigned(host)] : []),
    ...withoutMemory(host, environment),
  ];
}

function localOnly({ options: { http }, paths }: McpServerInstance): string[] {
  if (!http || paths.length === 0 || http.allowedHosts === '*') return [];
  if (!http.allowedHosts.every(name => LOOPBACK.includes(name))) return [];
  return [
    '"http.allowedHosts" admits only localhost, so calls to any other host get 403; list the public host names of the server',
  ];
}

/** Other handlers may ask, too. `Rounds` warns when they do, which is late where another node gets the answer. */
function unsigned({ options: { mrtr }, table }: McpServerInstance): string[] {
  if (mrtr.secrets.length > 0) return [];
  const asking = [...table.enabled()].find(({ run }) => run.plan.params.some(({ kind }) => kind === 'ask'));
  const isShared = mrtr.store !== undefined && !(mrtr.store instanceof MemoryMrtrStore);
  if (!asking && !isShared) return [];
  const problem = asking
    ? `${asking.where} asks the client, so its calls fail`
    : 'nodes share its store: calls that ask the client fail';
  return [
    `"mrtr.secret" is not set, but ${problem} after a restart and on other nodes; set it to the same secret on all nodes`,
  ];
}

function withoutMemory({ options: { http, legacy } }: McpServerInstance, environment: Environment): string[] {
  const found = Object.entries(SERVERLESS).find(([variable]) => environment[variable]);
  if (!found || !http || legacy !== 'sessions') return [];
  return [
    `"legacy" is "sessions", but ${found[1]} does not keep them from one request to the next; set "legacy" to "stateless"`,
  ];
}
