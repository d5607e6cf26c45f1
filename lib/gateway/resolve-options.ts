import type { Caps } from '../protocol/caller-limit.js';
import { CONNECTION } from '../connection/connection-options.js';
import { McpBootstrapError } from '../exceptions/mcp-bootstrap.error.js';
import { HTTP, SERVER, withShare } from '../module/resolve-server-options.js';
import type { McpCallOptions, McpModuleOptions } from '../server/server-options.js';
import { type MrtrSettings, SECRETS, secretsOf } from '../elicitation/mrtr-options.js';
import { resolve } from '../options/check-options.js';
import {
  COUNT,
  FLAG,
  FUNCTION,
  listOf,
  OBJECT,
  objectOf,
  omit,
  pick,
  TEXT,
  TIME,
  type OptionSchema,
} from '../options/option-schema.js';
import {
  SERVER_OPTIONS,
  type GatewayBackend,
  type GatewayLimits,
  type GatewayToolScopes,
  type McpGatewayOptions,
} from './gateway-options.js';

type FilledLimits = Readonly<
  Required<Omit<GatewayLimits, 'maxPerCaller'>> & Pick<GatewayLimits, 'maxPerCaller'>
>;

export interface GatewaySettings {
  readonly name: string;
  /** Whether clients see the backend's name instead of the gateway's. */
  readonly showsBackend: boolean;
  readonly backends: readonly { readonly prefix: string | undefined; readonly options: GatewayBackend }[];
  readonly passthrough: boolean;
  readonly toolScopes: GatewayToolScopes | undefined;
  readonly timeoutMs: number;
  readonly limits: FilledLimits;
  /** How many calls one caller may have at one backend. */
  readonly caps: Omit<Caps, 'max'>;
  /** The first signs, all are accepted. */
  readonly secrets: MrtrSettings['secrets'];
}

type FilledGatewayOptions = McpGatewayOptions &
  Required<Pick<McpGatewayOptions, 'name' | 'passthrough' | 'timeoutMs' | 'mrtr'>> & {
    limits: FilledLimits;
    calls: Required<McpCallOptions>;
  };

export const LIMITS = objectOf<GatewayLimits, FilledLimits>({
  maxConnections: { ...COUNT, default: 100 },
  idleTimeoutMs: { ...TIME, default: 60_000 },
  maxSuspended: { ...COUNT, default: 100 },
  suspendedTimeoutMs: { ...TIME, default: 300_000 },
  listTimeoutMs: { ...TIME, default: 30_000 },
  maxPerCaller: COUNT,
});

const BACKEND_RULE = 'an object with a "url", a "command" or a "transport"';

export const BACKEND = objectOf<GatewayBackend>(
  {
    auth: OBJECT,
    tokenFor: { ...FUNCTION, description: 'a function that returns an access token' },
    ...CONNECTION.properties,
  },
  {
    title: 'a backend',
    description: BACKEND_RULE,
    problem: (options: GatewayBackend, name) => {
      const problem = CONNECTION.problem?.(options as never, name);
      if (problem || options.url !== undefined) return problem;
      const credentials = (['auth', 'tokenFor'] as const).find(key => options[key] !== undefined);
      return credentials && `${name(credentials)} is only for a server at a "url"`;
    },
  },
);

/** A scope of RFC 6749, 3.3. */
const SCOPE: OptionSchema = { type: 'string', pattern: '^[\\x21\\x23-\\x5b\\x5d-\\x7e]+$' };

const OWN = {
  name: { ...TEXT, default: 'gateway' },
  version: TEXT,
  path: HTTP.properties.path,
  backend: { description: BACKEND_RULE },
  backends: { ...OBJECT, description: 'an object, with a backend for each prefix' },
  passthrough: { ...FLAG, default: false },
  toolScopes: {
    ...OBJECT,
    additionalProperties: listOf(SCOPE, 'a list of scopes, with at least one', 1),
    description: 'an object, with a list of scopes for each name of a tool',
  },
  timeoutMs: { ...TIME, default: 3_600_000 },
  mrtr: { ...SECRETS, default: {} },
  limits: { ...LIMITS, default: {} },
};

export const GATEWAY = objectOf<McpGatewayOptions, FilledGatewayOptions>(
  {
    ...pick(SERVER.properties, ...SERVER_OPTIONS),
    ...OWN,
  },
  { title: 'options', description: 'an object with a "backend"', problem: problemOfGateway },
);

function problemOfGateway(options: McpGatewayOptions): string | undefined {
  const { backend, backends, path, http, passthrough, interceptors } = options;
  if ((backend === undefined) === (backends === undefined)) return 'give either "backend" or "backends"';
  if (path !== undefined && http === false) return '"path" needs an HTTP endpoint, and "http" is false';
  if (passthrough && (backend === undefined || interceptors?.expose === true)) {
    return '"passthrough" is for one "backend", and excludes "interceptors.expose": both serve interceptors/list';
  }
  return backends && problemOfPrefixes(Object.keys(backends));
}

/** A name with a prefix must belong to exactly one backend. */
function problemOfPrefixes(prefixes: string[]): string | undefined {
  if (prefixes.length === 0) return '"backends" must name at least one';
  const wrong = prefixes.find(prefix => !/^[A-Za-z\d.-][\w.-]{0,31}$/.test(prefix));
  if (wrong !== undefined) {
    return `the prefix "${wrong}" must be 1 to 32 letters, digits, ".", "-" or "_", not starting with "_"`;
  }
  for (const prefix of prefixes) {
    const other = prefixes.find(one => one !== prefix && one.startsWith(`${prefix}_`));
    if (other === undefined) continue;
    return `the prefixes "${prefix}" and "${other}" collide: "${other}_x" could be a name of both; rename one of them`;
  }
  return undefined;
}

/** @throws McpBootstrapError for an option that is missing, unknown or out of range */
export function resolveGatewayOptions(options: McpGatewayOptions): {
  server: McpModuleOptions;
  settings: GatewaySettings;
} {
  const where = `McpGatewayModule.forRoot({ name: ${JSON.stringify((options as Partial<McpGatewayOptions> | undefined)?.name ?? 'gateway')} })`;
  const fail = (problem: string) => new McpBootstrapError(where, problem);
  const {
    name,
    version = '0.0.0',
    passthrough,
    toolScopes,
    timeoutMs,
    limits,
    calls,
    mrtr,
  } = resolve(GATEWAY, options, fail);
  const backendOf = (one: GatewayBackend, option: string) =>
    resolve(BACKEND, one, problem => new McpBootstrapError(`${where}, "${option}"`, problem));
  const { backend, backends } = options;
  const all = backends
    ? Object.entries(backends).map(([prefix, one]) => ({
        prefix,
        options: backendOf(one, `backends.${prefix}`),
      }))
    : [{ prefix: undefined, options: backendOf(backend!, 'backend') }];
  // So that backends that hang leave their callers room for calls of others.
  const quarter = Math.ceil(withShare(calls, options.calls, 'max', 'maxPerCaller').maxPerCaller / 4);
  const { maxPerCaller = quarter } = limits;
  const { path } = options;
  const http = options.http === false ? false : { ...(path !== undefined && { path }), ...options.http };
  return {
    server: {
      ...omit(options, ...(Object.keys(OWN) as (keyof typeof OWN)[])),
      name,
      version,
      http,
      // A backend has its own time for an answer.
      calls: { timeoutMs: 0, ...options.calls },
    },
    settings: {
      name,
      showsBackend: backend !== undefined && options.name === undefined,
      backends: all,
      passthrough,
      toolScopes,
      timeoutMs,
      limits: { ...limits, listTimeoutMs: Math.min(limits.listTimeoutMs, timeoutMs) },
      caps: { maxPerCaller: all.length > 1 ? maxPerCaller : Infinity },
      secrets: secretsOf(mrtr),
    },
  };
}
