import { MAX_TIMER_MS } from '../constants.js';
import type { Check } from '../option-check.js';
import { isText } from '../option-rules.js';
import { isRecord } from '../schema/plain-json.js';
import { checkServer } from './remote/check-server.js';
import {
  DEFAULT_INTERCEPTOR_SETTINGS,
  type InterceptorSettings,
  type McpInterceptorOptions,
} from './interceptor-options.js';
import { shapeProblemOf } from './policy/policy-schema.js';
import { pathOf } from './policy/policy-source.js';

const KNOWN = Object.keys({
  ...DEFAULT_INTERCEPTOR_SETTINGS,
  policyFile: true,
  resolveServers: true,
} satisfies Record<keyof McpInterceptorOptions, unknown>);

/**
 * Checks the `interceptors` option of a server, or of a client, and fills in its defaults.
 * @throws whatever `check` throws, for an option that is unknown or out of range
 */
export function resolveInterceptors(
  interceptors: McpInterceptorOptions = {},
  check: Check,
): InterceptorSettings {
  check(isRecord(interceptors), '"interceptors" must be an object');
  check.known(interceptors, KNOWN, 'interceptors');
  const given = Object.entries(interceptors).filter(([, value]) => value !== undefined);
  const settings = { ...DEFAULT_INTERCEPTOR_SETTINGS, ...Object.fromEntries(given) };
  const { apply, expose, warnings, timeoutMs, denial, servers, discovery, policyFile } = settings;
  for (const [name, value] of Object.entries({ apply, expose, warnings })) {
    check(typeof value === 'boolean', `"interceptors.${name}" must be true or false`);
  }
  check.count(timeoutMs, 'interceptors.timeoutMs', MAX_TIMER_MS);
  check(
    denial === 'error' || denial === 'tool-error',
    '"interceptors.denial" must be "error" or "tool-error"',
  );
  check(Array.isArray(servers), '"interceptors.servers" must be a list of hosts, each with a "name"');
  servers.forEach((server: unknown, index) => checkServer(server, `interceptors.servers[${index}]`, check));
  check(isRecord(discovery), '"interceptors.discovery" must be { ttlMs }');
  check.known(discovery, ['ttlMs'], 'interceptors.discovery');
  const { ttlMs = 0 } = discovery;
  check(
    typeof ttlMs === 'number' && ttlMs >= 0,
    '"interceptors.discovery.ttlMs" must be milliseconds, 0 or more',
  );
  check(
    policyFile === undefined || isText(policyFile),
    '"interceptors.policyFile" must be the path of a file',
  );
  check(
    settings.resolveServers === undefined || typeof settings.resolveServers === 'function',
    '"interceptors.resolveServers" must be a function of the caller',
  );
  checkPolicy(settings, check);
  return settings;
}

/** By the schema of policy files: what the code says is held to what the file may say. */
function checkPolicy({ overrides, config }: InterceptorSettings, check: Check): void {
  check(isRecord(overrides), '"interceptors.overrides" must be an object by name');
  check(isRecord(config), '"interceptors.config" must be objects by name');
  if (Object.keys(overrides).length + Object.keys(config).length === 0) return;
  const problem = shapeProblemOf({ overrides, config });
  check(problem === undefined, `"interceptors.${pathOf(problem?.steps ?? [])}" ${problem?.rule}`);
}
