import type { CacheHint } from '@modelcontextprotocol/server';
import { MAX_TIMER_MS } from './constants.js';
import { resolveInterceptors } from './interceptors/resolve-interceptors.js';
import { resolveMrtr } from './mrtr/resolve-mrtr.js';
import type {
  CacheableMethod,
  McpHttpOptions,
  McpModuleOptions,
  McpSessionOptions,
  ResolvedHttpOptions,
  ResolvedOptions,
} from './mcp.module-options.js';
import { checker, type Check } from './option-check.js';
import { isText } from './option-rules.js';
import { isRecord } from './schema/plain-json.js';

const LOOPBACK = ['localhost', '127.0.0.1', '[::1]'];
const LEGACY_MODES = new Set(['sessions', 'stateless', 'reject']);

const KNOWN: readonly (keyof McpModuleOptions)[] = [
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
  'shutdownTimeoutMs',
  'pageSize',
  'cache',
  'capabilities',
  'interceptors',
  'mrtr',
];
const KNOWN_HTTP: readonly (keyof McpHttpOptions)[] = [
  'path',
  'version',
  'allowedHosts',
  'allowedOrigins',
  'maxBodyBytes',
  'bodyTimeoutMs',
  'maxListeners',
  'keepAliveMs',
  'decorators',
];
const KNOWN_SESSIONS: readonly (keyof McpSessionOptions)[] = ['max', 'idleTimeoutMs', 'maxSubscriptions'];
const CACHEABLE: readonly CacheableMethod[] = [
  'tools/list',
  'prompts/list',
  'resources/list',
  'resources/templates/list',
  'resources/read',
  'server/discover',
  'interceptors/list',
];
const CAPABILITIES: readonly (keyof ResolvedOptions['capabilities'])[] = [
  'tools',
  'prompts',
  'resources',
  'completions',
];

/**
 * Fills in the defaults.
 * @throws McpBootstrapError for an option that is missing, unknown or out of range
 */
export function resolveOptions(options: McpModuleOptions): ResolvedOptions {
  const where = `McpModule.forRoot({ name: ${JSON.stringify((options as Partial<McpModuleOptions> | undefined)?.name)} })`;
  const check = checker(where);
  check(isRecord(options), 'options must be an object with a "name" and a "version"');
  check.known(options, KNOWN);
  const { name, version, http = {}, stdio = false, legacy = 'sessions' } = options;
  const { shutdownTimeoutMs = 10_000, pageSize = 1000 } = options;
  check(isText(name), '"name" must be a non-empty string; it is what clients and handlers call the server');
  check(isText(version), '"version" must be a non-empty string, such as "1.0.0"');
  checkDescription(options, check);
  check(
    LEGACY_MODES.has(legacy),
    `"legacy" must be "sessions", "stateless" or "reject", not ${JSON.stringify(legacy)}`,
  );
  check(typeof stdio === 'boolean', '"stdio" must be true or false');
  check(http === false || isRecord(http), '"http" must be an object, or false for no HTTP endpoint');
  check.count(shutdownTimeoutMs, 'shutdownTimeoutMs', MAX_TIMER_MS);
  check.count(pageSize, 'pageSize');
  return {
    ...options,
    http: http === false ? false : resolveHttp(http, check),
    stdio,
    legacy,
    sessions: resolveSessions(options.sessions, check),
    shutdownTimeoutMs,
    pageSize,
    cache: resolveCache(options.cache, check),
    capabilities: resolveCapabilities(options.capabilities, check),
    interceptors: resolveInterceptors(options.interceptors, check),
    mrtr: resolveMrtr(options.mrtr, check),
  };
}

/** What a client is shown of the server. */
function checkDescription({ title, instructions, websiteUrl, icons }: McpModuleOptions, check: Check): void {
  check(title === undefined || isText(title), '"title" must be a non-empty string');
  check(instructions === undefined || isText(instructions), '"instructions" must be a non-empty string');
  check(
    websiteUrl === undefined || (isText(websiteUrl) && URL.canParse(websiteUrl)),
    '"websiteUrl" must be an absolute URL, such as "https://example.com"',
  );
  check(
    icons === undefined || (Array.isArray(icons) && icons.every(icon => isRecord(icon) && isText(icon.src))),
    '"icons" must be a list of icons, each with the URL of the image in "src"',
  );
}

function resolveHttp(http: McpHttpOptions, check: Check): ResolvedHttpOptions {
  check.known(http, KNOWN_HTTP, 'http');
  const { path = '/mcp', allowedHosts = LOOPBACK } = http;
  check(isText(path) && !/[\s?#]/.test(path), '"http.path" must be a path, such as "/mcp"');
  const {
    version,
    // A host is the server's own name; an origin is whose pages may use it.
    allowedOrigins = allowedHosts === '*' ? LOOPBACK : allowedHosts,
    maxBodyBytes = 4_194_304,
    bodyTimeoutMs = 30_000,
    maxListeners = 1024,
    keepAliveMs = 15_000,
  } = http;
  check.count(maxBodyBytes, 'http.maxBodyBytes');
  check.count(bodyTimeoutMs, 'http.bodyTimeoutMs', MAX_TIMER_MS);
  check.count(maxListeners, 'http.maxListeners');
  check(
    Number.isInteger(keepAliveMs) && keepAliveMs >= 0 && keepAliveMs <= MAX_TIMER_MS,
    `"http.keepAliveMs" must be a whole number from 0 to ${MAX_TIMER_MS}`,
  );
  return {
    path,
    version,
    allowedHosts: resolveNames(allowedHosts, 'http.allowedHosts', check),
    allowedOrigins: resolveNames(allowedOrigins, 'http.allowedOrigins', check),
    maxBodyBytes,
    bodyTimeoutMs,
    maxListeners,
    keepAliveMs,
  };
}

function resolveNames(names: string[] | '*', option: string, check: Check): string[] | '*' {
  if (names === '*') return names;
  const resolved = Array.isArray(names) ? names.map(hostName) : [];
  check(
    resolved.length > 0 && resolved.every(isText),
    `"${option}" must be a list of host names, such as "example.com" or "[::1]", without scheme and port, or "*"`,
  );
  return resolved as string[];
}

/** A host name as URLs have it, in lower case, if it is one. */
function hostName(name: unknown): string | undefined {
  if (typeof name !== 'string' || !/^(\[[\da-f:.]+\]|[^\s/?#@:[\]]+)$/i.test(name)) return undefined;
  const url = `http://${name}`;
  return URL.canParse(url) ? new URL(url).hostname : undefined;
}

function resolveSessions(sessions: McpSessionOptions = {}, check: Check): ResolvedOptions['sessions'] {
  check(isRecord(sessions), '"sessions" must be an object');
  check.known(sessions, KNOWN_SESSIONS, 'sessions');
  const { max = 1000, idleTimeoutMs = 600_000, maxSubscriptions = 1000 } = sessions;
  check.count(max, 'sessions.max');
  check.count(idleTimeoutMs, 'sessions.idleTimeoutMs', MAX_TIMER_MS);
  check.count(maxSubscriptions, 'sessions.maxSubscriptions');
  return { max, idleTimeoutMs, maxSubscriptions };
}

function resolveCache(cache: McpModuleOptions['cache'] = {}, check: Check): ResolvedOptions['cache'] {
  check(isRecord(cache), '"cache" must be an object');
  check.known(cache, CACHEABLE, 'cache');
  for (const [method, hint] of Object.entries(cache)) {
    if (hint === undefined) continue;
    const { ttlMs = 0, cacheScope = 'public' }: CacheHint = isRecord(hint) ? hint : { ttlMs: -1 };
    check(
      Number.isSafeInteger(ttlMs) && ttlMs >= 0 && (cacheScope === 'public' || cacheScope === 'private'),
      `"cache['${method}']" must be { ttlMs, cacheScope }, with milliseconds, and "public" or "private"`,
    );
  }
  return cache;
}

function resolveCapabilities(
  capabilities: McpModuleOptions['capabilities'] = {},
  check: Check,
): ResolvedOptions['capabilities'] {
  check(isRecord(capabilities), '"capabilities" must be an object');
  check.known(capabilities, CAPABILITIES, 'capabilities');
  for (const [name, value] of Object.entries(capabilities)) {
    check(value === undefined || typeof value === 'boolean', `"capabilities.${name}" must be true or false`);
  }
  return capabilities;
}
