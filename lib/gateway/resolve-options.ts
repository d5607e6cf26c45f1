import { checkConnection, CONNECTION_OPTIONS } from '../connection/connection-options.js';
import { MAX_TIMER_MS } from '../constants.js';
import { McpBootstrapError } from '../exceptions/mcp-bootstrap.error.js';
import type { McpModuleOptions } from '../mcp.module-options.js';
import type { MrtrSettings } from '../mrtr/mrtr-options.js';
import { resolveMrtr } from '../mrtr/resolve-mrtr.js';
import { checker, type Check } from '../option-check.js';
import { isRecord } from '../schema/plain-json.js';
import type {
  GatewayBackend,
  GatewayLimits,
  GatewayMrtrOptions,
  McpGatewayOptions,
} from './gateway-options.js';

/** Options of a gateway with every default filled in. */
export interface GatewaySettings {
  readonly name: string;
  /** Whether clients are shown the backend's name, rather than the gateway's. */
  readonly showsBackend: boolean;
  readonly backends: readonly { readonly prefix: string | undefined; readonly options: GatewayBackend }[];
  readonly passthrough: boolean;
  readonly timeoutMs: number;
  readonly limits: Readonly<Required<GatewayLimits>>;
  /** What signs a `requestState`; the first signs, all are accepted. */
  readonly secrets: MrtrSettings['secrets'];
}

const KNOWN: readonly (keyof McpGatewayOptions)[] = [
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
  'interceptors',
  'mrtr',
  'path',
  'backend',
  'backends',
  'passthrough',
  'timeoutMs',
  'limits',
];

const KNOWN_MRTR: readonly (keyof GatewayMrtrOptions)[] = ['secret', 'secrets'];

const DEFAULT_LIMITS: Required<GatewayLimits> = {
  maxConnections: 100,
  idleTimeoutMs: 60_000,
  maxSuspended: 100,
  suspendedTimeoutMs: 300_000,
  listTimeoutMs: 30_000,
};

/**
 * Splits the options into the server's and the gateway's.
 * @throws McpBootstrapError for an option that is missing, unknown or out of range
 */
export function resolveGatewayOptions(options: McpGatewayOptions): {
  server: McpModuleOptions;
  settings: GatewaySettings;
} {
  if (typeof options !== 'object' || options === null) {
    throw new McpBootstrapError('McpGatewayModule.forRoot()', 'options must be an object with a "backend"');
  }
  const {
    name = 'gateway',
    version = '0.0.0',
    path,
    backend,
    backends,
    passthrough,
    timeoutMs,
    limits,
    ...rest
  } = options;
  const where = `McpGatewayModule.forRoot({ name: ${JSON.stringify(name)} })`;
  const check = checker(where);
  check.known(options, KNOWN);
  check((backend === undefined) !== (backends === undefined), 'give either "backend" or "backends"');
  check(path === undefined || options.http !== false, '"path" needs an HTTP endpoint, and "http" is false');
  check(
    !passthrough || (backend !== undefined && options.interceptors?.expose !== true),
    '"passthrough" is for one "backend", and excludes "interceptors.expose": both serve interceptors/list',
  );
  check(
    backends === undefined || isRecord(backends),
    '"backends" must be an object, with a backend for each prefix',
  );
  const resolve = (one: GatewayBackend, option: string) =>
    resolveBackend(one, checker(`${where}, "${option}"`));
  const all =
    backends === undefined
      ? [{ prefix: undefined, options: resolve(backend!, 'backend') }]
      : Object.entries(backends).map(([prefix, one]) => ({
          prefix,
          options: resolve(one, `backends.${prefix}`),
        }));
  check(all.length > 0, '"backends" must name at least one');
  checkPrefixes(Object.keys(backends ?? {}), check);
  const bounds = { ...DEFAULT_LIMITS, ...limits };
  for (const [key, value] of Object.entries({ timeoutMs: timeoutMs ?? 1, ...bounds })) {
    const known = key === 'timeoutMs' || Object.hasOwn(DEFAULT_LIMITS, key);
    check(known, `unknown option "limits.${key}"; known are ${Object.keys(DEFAULT_LIMITS).join(', ')}`);
    check(
      Number.isSafeInteger(value) && value > 0 && value <= MAX_TIMER_MS,
      `"${key}" must be a whole number above 0, up to ${MAX_TIMER_MS}`,
    );
  }
  if (isRecord(options.mrtr)) check.known(options.mrtr, KNOWN_MRTR, 'mrtr');
  const { secrets } = resolveMrtr(options.mrtr, check);
  const http = options.http === false ? false : { ...(path !== undefined && { path }), ...options.http };
  return {
    server: { ...rest, name, version, http },
    settings: {
      name,
      showsBackend: backend !== undefined && options.name === undefined,
      backends: all,
      passthrough: passthrough ?? false,
      timeoutMs: timeoutMs ?? 3_600_000,
      limits: bounds,
      secrets,
    },
  };
}

/** A backend's options, without those that are undefined: each has its default. */
function resolveBackend(options: GatewayBackend, check: Check): GatewayBackend {
  check(isRecord(options), 'a backend must be an object with a "url", a "command" or a "transport"');
  check.known(options, CONNECTION_OPTIONS);
  checkConnection(options, check);
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}

/** A name with a prefix must tell which backend it belongs to, whatever the backends call their tools. */
function checkPrefixes(prefixes: string[], check: Check): void {
  for (const prefix of prefixes) {
    check(
      /^[A-Za-z\d.-][\w.-]{0,31}$/.test(prefix),
      `the prefix "${prefix}" must be 1 to 32 letters, digits, ".", "-" or "_", not starting with "_"`,
    );
    const other = prefixes.find(one => one !== prefix && one.startsWith(`${prefix}_`));
    check(
      other === undefined,
      `the prefixes "${prefix}" and "${other}" collide: "${other}_x" could be a name of both; rename one of them`,
    );
  }
}
