import { McpBootstrapError } from '../exceptions/mcp-bootstrap.error.js';
import { INTERCEPTORS } from '../interceptors/common-options.js';
import { MRTR, resolveMrtr, type FilledMrtr } from '../elicitation/mrtr-options.js';
import type {
  McpCallOptions,
  McpFeatureOptions,
  McpHttpOptions,
  McpModuleAsyncOptions,
  McpModuleOptions,
  McpRouteOptions,
  McpSessionOptions,
  ResolvedHttpOptions,
  ResolvedOptions,
} from '../server/server-options.js';
import { CACHEABLE, type CacheableMethod } from '../protocol/methods.js';
import { MemoryEventStore } from '../stores/memory-event-store.js';
import { MemorySessionStore } from '../stores/session-store.js';
import type { SharedState } from '../stores/shared-state.js';
import { resolve } from '../options/check-options.js';
import {
  COUNT,
  FLAG,
  FUNCTION,
  listOf,
  objectOf,
  oneOf,
  TEXT,
  TIME,
  type OptionSchema,
} from '../options/option-schema.js';
import { isRecord } from '../util/is-record.js';
import { hasMethods, isText } from '../util/values.js';

/** The host names of this machine. */
export const LOOPBACK = ['localhost', '127.0.0.1', '[::1]'];

const HOST_NAMES: OptionSchema = {
  accepts: (names: unknown) =>
    names === '*' || (Array.isArray(names) && names.length > 0 && names.map(hostName).every(isText)),
  description: 'a list of host names, such as "example.com" or "[::1]", without scheme and port, or "*"',
};

/** The host name as in URLs, in lower case; undefined if it is not a host name. */
function hostName(name: unknown): string | undefined {
  if (typeof name !== 'string' || !/^(\[[\da-f:.]+\]|[^\s/?#@:[\]]+)$/i.test(name)) return undefined;
  const url = `http://${name}`;
  return URL.canParse(url) ? new URL(url).hostname : undefined;
}

type FilledHttp = Omit<ResolvedHttpOptions, 'allowedOrigins'> & McpHttpOptions;

export const HTTP = objectOf<McpHttpOptions, FilledHttp>({
  path: { ...TEXT, pattern: String.raw`^[^\s?#]*$`, default: '/mcp', description: 'a path, such as "/mcp"' },
  version: { description: 'a version, as a controller takes it' },
  allowedHosts: { ...HOST_NAMES, default: LOOPBACK },
  allowedOrigins: HOST_NAMES,
  maxBodyBytes: { ...COUNT, default: 4_194_304 },
  bodyTimeoutMs: { ...TIME, default: 30_000 },
  maxListeners: { ...COUNT, default: 1024 },
  maxListenersPerCaller: { ...COUNT, default: 64 },
  keepAliveMs: { ...TIME, minimum: 0, default: 15_000 },
  decorators: listOf(FUNCTION, 'a list of decorators'),
});

export const SESSIONS = objectOf<McpSessionOptions, ResolvedOptions['sessions']>({
  max: { ...COUNT, default: 1000 },
  maxPerCaller: { ...COUNT, default: 100 },
  idleTimeoutMs: { ...TIME, default: 600_000 },
  maxLifetimeMs: { ...TIME, default: 86_400_000 },
  resumeMs: {
    anyOf: [TIME, oneOf(false)],
    default: 60_000,
    description: 'a whole number above 0, up to 2147483647, or false',
  },
  maxSubscriptions: { ...COUNT, default: 1000 },
  eventStore: {
    accepts: hasMethods('append', 'after', 'offer', 'take', 'delete'),
    description: 'an object with append, after, offer, take and delete',
  },
  store: {
    accepts: hasMethods('create', 'read', 'update', 'delete'),
    description: 'an object with create, read, update and delete',
  },
});

export const CALLS = objectOf<McpCallOptions, Required<McpCallOptions>>({
  max: { ...COUNT, default: 2048 },
  maxPerCaller: { ...COUNT, default: 256 },
  timeoutMs: { ...TIME, minimum: 0, default: 60_000 },
  maxHanging: { ...COUNT, default: 2048 },
});

const CACHE_HINT = objectOf<{ ttlMs?: number; cacheScope?: string }>(
  { ttlMs: { ...COUNT, minimum: 0 }, cacheScope: oneOf('public', 'private') },
  { description: '{ ttlMs, cacheScope }, with milliseconds, and "public" or "private"' },
);

const CACHE = objectOf<Partial<Record<CacheableMethod, unknown>>>(
  Object.fromEntries(CACHEABLE.map(method => [method, CACHE_HINT])) as Record<
    CacheableMethod,
    typeof CACHE_HINT
  >,
);

const CAPABILITIES = objectOf<ResolvedOptions['capabilities']>({
  tools: FLAG,
  prompts: FLAG,
  resources: FLAG,
  completions: FLAG,
});

const VERBS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS', 'ALL'];

export const ROUTES = objectOf<McpRouteOptions>(
  {
    include: listOf(FUNCTION, 'a list of controllers'),
    methods: listOf(oneOf(...VERBS), 'a list of HTTP methods, such as ["GET"]'),
    resources: FLAG,
  },
  { required: ['include'] },
);

const ICON: OptionSchema = {
  accepts: (icon: unknown) => isRecord(icon) && isText(icon['src']),
  description: 'an icon, with the URL of the image in "src"',
};

interface FilledOptions extends Omit<ResolvedOptions, 'http' | 'mrtr'> {
  readonly http: FilledHttp | false;
  readonly mrtr: FilledMrtr;
}

export const SERVER = objectOf<McpModuleOptions, FilledOptions>(
  {
    name: {
      ...TEXT,
      description: 'a non-empty string; clients and handlers use it as the name of the server',
    },
    version: { ...TEXT, description: 'a non-empty string, such as "1.0.0"' },
    title: TEXT,
    instructions: TEXT,
    icons: listOf(ICON, 'a list of icons'),
    websiteUrl: {
      ...TEXT,
      accepts: (url: string) => URL.canParse(url),
      description: 'an absolute URL, such as "https://example.com"',
    },
    http: {
      anyOf: [HTTP, oneOf(false)],
      default: {},
      description: 'an object, or false for no HTTP endpoint',
    },
    stdio: { ...FLAG, default: false },
    legacy: { ...oneOf('sessions', 'stateless', 'reject'), default: 'sessions' },
    sessions: { ...SESSIONS, default: {} },
    calls: { ...CALLS, default: {} },
    shutdownTimeoutMs: { ...TIME, default: 10_000 },
    drainMs: { ...TIME, minimum: 0, default: 0 },
    pageSize: { ...COUNT, default: 1000 },
    cache: { ...CACHE, default: {} },
    capabilities: { ...CAPABILITIES, default: {} },
    interceptors: { ...INTERCEPTORS, default: {} },
    mrtr: { ...MRTR, default: {} },
    bus: { accepts: hasMethods('publish', 'subscribe'), description: 'an object with publish and subscribe' },
    routes: ROUTES,
  },
  {
    title: 'options',
    required: ['name', 'version'],
    description: 'an object with a "name" and a "version"',
  },
);

/**
 * Checks the options of a server, and fills in the defaults.
 * @param shared replaces options that are not set
 * @throws McpBootstrapError for an option that is missing, unknown or out of range
 */
export function resolveOptions(options: McpModuleOptions, shared?: SharedState): ResolvedOptions {
  const name = JSON.stringify((options as Partial<McpModuleOptions> | undefined)?.name);
  const where = `McpModule.forRoot({ name: ${name} })`;
  const fail = (problem: string) => new McpBootstrapError(where, problem);
  const {
    http,
    mrtr,
    bus = shared?.bus,
    sessions: bounds,
    ...rest
  } = shareCaps(resolve(SERVER, options, fail), options);
  const { store = shared?.store } = mrtr;
  if (mrtr.singleUse && !store) {
    throw fail('"mrtr.singleUse" needs "mrtr.store" or McpRedisModule, to record used states');
  }
  const sessions = { store: shared?.sessions, eventStore: shared?.events, ...bounds };
  if (sessions.store && !(bus && sessions.eventStore)) {
    throw fail('"sessions.store" needs "sessions.eventStore" and "bus", which the nodes must also share');
  }
  if (
    sessions.store &&
    sessions.eventStore instanceof MemoryEventStore &&
    !(sessions.store instanceof MemorySessionStore)
  ) {
    throw fail('a MemoryEventStore as "sessions.eventStore" is not shared, but sessions are; leave it out');
  }
  const counts = shared?.counts?.bind(shared);
  return {
    ...rest,
    bus,
    sessions,
    ...(counts && { counting: { server: options.name, counts } }),
    http: http && resolveHttp(http),
    mrtr: resolveMrtr({ ...mrtr, store }),
  };
}

/** Lowers a caller's cap that is above the cap of all callers, so that one caller cannot take everything. */
function shareCaps(filled: FilledOptions, { sessions, calls, http, mrtr }: McpModuleOptions): FilledOptions {
  const { suspension } = filled.mrtr;
  return {
    ...filled,
    sessions: withShare(filled.sessions, sessions, 'max', 'maxPerCaller'),
    calls: withShare(filled.calls, calls, 'max', 'maxPerCaller'),
    http: filled.http && withShare(filled.http, http || undefined, 'maxListeners', 'maxListenersPerCaller'),
    mrtr: { ...filled.mrtr, suspension: withShare(suspension, mrtr?.suspension, 'maxTotal', 'maxPerCaller') },
  };
}

/** The cap of a caller is half of the total, unless the application has given both. */
export function withShare<K extends string, T extends Readonly<Record<K, number>>>(
  filled: T,
  given: { readonly [key in K]?: number } = {},
  total: K,
  cap: K,
): T {
  const all = filled[total];
  const isGiven = given[total] !== undefined && given[cap] !== undefined;
  return all > 1 && all < filled[cap] && !isGiven ? { ...filled, [cap]: Math.floor(all / 2) } : filled;
}

function resolveHttp({ decorators: _, allowedHosts, ...http }: FilledHttp): ResolvedHttpOptions {
  // A host is the server's own name. An origin is the host of a page that may use the server.
  const { allowedOrigins = allowedHosts === '*' ? LOOPBACK : allowedHosts } = http;
  return { ...http, allowedHosts: hostNames(allowedHosts), allowedOrigins: hostNames(allowedOrigins) };
}

const hostNames = (names: string[] | '*'): string[] | '*' =>
  names === '*' ? names : names.map(name => hostName(name)!);

const MAKERS = ['useFactory', 'useClass', 'useExisting'] as const;

export const ASYNC = objectOf<McpModuleAsyncOptions>(
  {
    imports: { type: 'array', description: 'a list of modules' },
    inject: { type: 'array', description: 'a list of tokens' },
    useFactory: FUNCTION,
    useClass: { ...FUNCTION, description: 'a class' },
    useExisting: { description: 'the token of a provider' },
    decorators: HTTP.properties.decorators,
  },
  {
    title: 'options',
    problem: (options: McpModuleAsyncOptions) =>
      MAKERS.filter(maker => options[maker] !== undefined).length === 1
        ? undefined
        : 'it needs one of "useFactory", "useClass" and "useExisting"',
  },
);

export const FEATURE = objectOf<McpFeatureOptions>({ server: TEXT }, { title: 'options' });

/** @throws McpBootstrapError for an option that is missing, unknown or wrong */
export function assertAsyncOptions(options: McpModuleAsyncOptions): void {
  resolve(ASYNC, options, problem => new McpBootstrapError('McpModule.forRootAsync()', problem));
}

/** @throws McpBootstrapError for an option that is unknown or wrong */
export const resolveFeatureOptions = (options: McpFeatureOptions): McpFeatureOptions =>
  resolve(FEATURE, options, problem => new McpBootstrapError('McpModule.forFeature()', problem));
