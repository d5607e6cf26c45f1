import { McpBootstrapError } from './exceptions/mcp-bootstrap.error.js';
import type {
  McpHttpOptions,
  McpModuleOptions,
  ResolvedHttpOptions,
  ResolvedOptions,
} from './mcp.module-options.js';

const LOOPBACK = ['localhost', '127.0.0.1', '[::1]'];
const LEGACY_MODES = new Set(['sessions', 'stateless', 'reject']);
const KNOWN = new Set<string>([
  'name',
  'version',
  'title',
  'instructions',
  'icons',
  'websiteUrl',
  'http',
  'stdio',
  'legacy',
  'sessions',
  'pageSize',
  'cache',
  'capabilities',
] satisfies (keyof McpModuleOptions)[]);
const KNOWN_HTTP = new Set<string>([
  'path',
  'version',
  'allowedHosts',
  'allowedOrigins',
  'maxBodyBytes',
  'maxListeners',
  'keepAliveMs',
  'decorators',
] satisfies (keyof McpHttpOptions)[]);
const KNOWN_SESSIONS = new Set(['max', 'idleTimeoutMs', 'maxSubscriptions']);

/**
 * Fills in the defaults.
 * @throws McpBootstrapError for an option that is missing, unknown or out of range
 */
export function resolveOptions(options: McpModuleOptions): ResolvedOptions {
  const where = `McpModule.forRoot({ name: ${JSON.stringify((options as Partial<McpModuleOptions> | undefined)?.name)} })`;
  const check = checker(where);
  check(isRecord(options), 'options must be an object with a "name" and a "version"');
  check.known(options, KNOWN, 'option');
  check(
    isText(options.name),
    '"name" must be a non-empty string; it is what clients and handlers call the server',
  );
  check(isText(options.version), '"version" must be a non-empty string, such as "1.0.0"');
  const { http = {}, stdio = false, legacy = 'sessions', sessions = {}, pageSize = 1000 } = options;
  check(
    LEGACY_MODES.has(legacy),
    `"legacy" must be "sessions", "stateless" or "reject", not ${JSON.stringify(legacy)}`,
  );
  check(typeof stdio === 'boolean', '"stdio" must be true or false');
  check(http === false || isRecord(http), '"http" must be an object, or false for no HTTP endpoint');
  check(isRecord(sessions), '"sessions" must be an object');
  check.known(sessions, KNOWN_SESSIONS, 'option of "sessions"');
  check.count(pageSize, 'pageSize');

  const resolved: ResolvedOptions = {
    ...options,
    http: http === false ? false : resolveHttp(http, check),
    stdio,
    legacy,
    sessions: { max: 1000, idleTimeoutMs: 600_000, maxSubscriptions: 1000, ...sessions },
    pageSize,
    cache: options.cache ?? {},
    capabilities: options.capabilities ?? {},
  };
  check.count(resolved.sessions.max, 'sessions.max');
  check.count(resolved.sessions.idleTimeoutMs, 'sessions.idleTimeoutMs');
  check.count(resolved.sessions.maxSubscriptions, 'sessions.maxSubscriptions');
  return resolved;
}

function resolveHttp(http: McpHttpOptions, check: Check): ResolvedHttpOptions {
  check.known(http, KNOWN_HTTP, 'option of "http"');
  const { path = '/mcp', allowedHosts = LOOPBACK } = http;
  check(isText(path), '"http.path" must be a non-empty string, such as "/mcp"');
  check(isNames(allowedHosts), '"http.allowedHosts" must be a list of host names, or "*"');
  const {
    allowedOrigins = allowedHosts,
    maxBodyBytes = 4_194_304,
    maxListeners = 1024,
    keepAliveMs = 15_000,
  } = http;
  check(isNames(allowedOrigins), '"http.allowedOrigins" must be a list of host names, or "*"');
  check.count(maxBodyBytes, 'http.maxBodyBytes');
  check.count(maxListeners, 'http.maxListeners');
  check(
    Number.isInteger(keepAliveMs) && keepAliveMs >= 0,
    '"http.keepAliveMs" must be a whole number, 0 or more',
  );
  return {
    path,
    version: http.version,
    allowedHosts,
    allowedOrigins,
    maxBodyBytes,
    maxListeners,
    keepAliveMs,
  };
}

interface Check {
  (holds: boolean, problem: string): void;
  count(value: unknown, name: string): void;
  known(value: object, names: ReadonlySet<string>, what: string): void;
}

function checker(where: string): Check {
  const check = (holds: boolean, problem: string) => {
    if (!holds) throw new McpBootstrapError(where, problem);
  };
  return Object.assign(check, {
    count: (value: unknown, name: string) =>
      check(Number.isSafeInteger(value) && (value as number) > 0, `"${name}" must be a whole number above 0`),
    known: (value: object, names: ReadonlySet<string>, what: string) => {
      const unknown = Object.keys(value).find(name => !names.has(name));
      check(unknown === undefined, `unknown ${what} "${unknown}"; known are ${[...names].join(', ')}`);
    },
  });
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isText = (value: unknown): value is string => typeof value === 'string' && value.trim() !== '';
const isNames = (value: unknown): boolean =>
  value === '*' || (Array.isArray(value) && value.length > 0 && value.every(isText));
