import { LOOPBACK } from './resolve-server-options.js';
import type { McpServerInstance } from '../server/mcp-server-instance.js';
import { MemoryMrtrStore } from '../stores/mrtr-store.js';

type Environment = Readonly<Record<string, string | undefined>>;

/** Environments that stop or replace an instance between requests, by a variable that their documentation promises. */
const SERVERLESS = {
  AWS_LAMBDA_FUNCTION_NAME: 'AWS Lambda',
  FUNCTION_TARGET: 'Google Cloud Functions',
  VERCEL: 'Vercel',
} as const;

/** Options that work on a developer's machine, and not where the process runs now. */
export function startWarnings(host: McpServerInstance, environment: Environment): string[] {
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
