import type { AuthProvider, OAuthClientProvider } from '@modelcontextprotocol/client';
import { MAX_TIMER_MS } from '../constants.js';
import { McpBootstrapError } from '../exceptions/mcp-bootstrap.error.js';
import type { InterceptorSettings, McpInterceptorOptions } from '../interceptors/interceptor-options.js';
import { resolveInterceptors } from '../interceptors/resolve-interceptors.js';
import { checker, type Check } from '../option-check.js';
import { isText } from '../option-rules.js';
import { isRecord } from '../schema/plain-json.js';
import { problemOfHeaders, type ConnectionOptions } from './connection-options.js';
import type { KnownToolsOption } from './known-tools/known-tools-option.js';

/** The `interceptors` option of a client. */
export type McpClientInterceptorOptions = Pick<
  McpInterceptorOptions,
  'apply' | 'servers' | 'discovery' | 'policyFile' | 'overrides' | 'timeoutMs' | 'config'
>;

/** A client of the application, and the server that it is for. */
export interface McpClientOptions extends ConnectionOptions {
  /** What the application calls it: `@InjectMcpClient(name)`, `@OnElicitation(name)`. Unique in the application. */
  name: string;
  /** OAuth, or where bearer tokens come from, for a server at a `url`. Default: none. */
  auth?: AuthProvider | OAuthClientProvider;
  /**
   * The application's interceptors around what this client sends and receives: those without a `server`, and those whose
   * `server` is the client's name. Default: all of them apply, and have 10,000 milliseconds for each message.
   */
  interceptors?: McpClientInterceptorOptions;
  /**
   * Definitions of the server's tools, so that calls have their `Mcp-Param-*` headers without a `listTools()` before: a
   * list, or the path of a JSON file with one. Default: none.
   */
  knownTools?: KnownToolsOption;
}

/** The options with the defaults that the connection does not have filled in. */
export interface ResolvedClientOptions extends Omit<McpClientOptions, 'interceptors'> {
  readonly settings: Pick<InterceptorSettings, keyof McpClientInterceptorOptions>;
}

const KNOWN: readonly (keyof McpClientOptions)[] = [
  'name',
  'url',
  'headers',
  'auth',
  'command',
  'args',
  'env',
  'cwd',
  'stderr',
  'transport',
  'era',
  'capabilities',
  'connectTimeoutMs',
  'reconnectDelayMs',
  'maxReconnectDelayMs',
  'maxResponseBytes',
  'interceptors',
  'knownTools',
];
const KNOWN_INTERCEPTORS: readonly (keyof McpClientInterceptorOptions)[] = [
  'apply',
  'servers',
  'discovery',
  'policyFile',
  'overrides',
  'timeoutMs',
  'config',
];
const COUNTS = ['connectTimeoutMs', 'reconnectDelayMs', 'maxReconnectDelayMs', 'maxResponseBytes'] as const;
const WAYS = ['url', 'command', 'transport'] as const;

/** How error messages name a client. */
export const whereOf = (name: unknown): string =>
  `McpClientModule.register([{ name: ${JSON.stringify(name)} }])`;

/**
 * Checks a client's options.
 * @throws McpBootstrapError for an option that is missing, unknown or out of range
 */
export function resolveClientOptions(options: McpClientOptions): ResolvedClientOptions {
  const check = checker(whereOf((options as Partial<McpClientOptions> | null)?.name));
  check(isRecord(options), 'a client must be an object with a "name"');
  check.known(options, KNOWN);
  const given = Object.fromEntries(
    Object.entries(options).filter(([, value]) => value !== undefined),
  ) as unknown as McpClientOptions;
  const { interceptors = {}, ...rest } = given;
  check(isText(rest.name), '"name" must be a non-empty string; it is what the application calls the client');
  checkWay(rest, check);
  check(
    rest.era === undefined || ['auto', 'modern', 'legacy'].includes(rest.era),
    '"era" must be "auto", "modern" or "legacy"',
  );
  check(rest.capabilities === undefined || isRecord(rest.capabilities), '"capabilities" must be an object');
  for (const name of COUNTS) if (rest[name] !== undefined) check.count(rest[name], name, MAX_TIMER_MS);
  check(
    rest.knownTools === undefined || Array.isArray(rest.knownTools) || isText(rest.knownTools),
    '"knownTools" must be a list of tools, or the path of a JSON file with one',
  );
  check(isRecord(interceptors), '"interceptors" must be an object');
  check.known(interceptors, KNOWN_INTERCEPTORS, 'interceptors');
  return { ...rest, settings: resolveInterceptors(interceptors, check) };
}

/** The list that `register` or a factory gave. */
export function assertList(clients: unknown): asserts clients is readonly McpClientOptions[] {
  if (Array.isArray(clients)) return;
  throw new McpBootstrapError('McpClientModule', 'its clients must be a list, each with a "name"');
}

function checkWay(options: Omit<McpClientOptions, 'interceptors'>, check: Check): void {
  const ways = WAYS.filter(way => options[way] !== undefined);
  check(ways.length === 1, 'it needs one of "url", "command" and "transport"');
  const { url, command, transport } = options;
  check(
    url === undefined || (URL.canParse(String(url)) && /^https?:$/.test(new URL(url).protocol)),
    '"url" must be an absolute URL with http or https, such as "https://example.com/mcp"',
  );
  check(command === undefined || isText(command), '"command" must name a program');
  check(
    transport === undefined || typeof transport === 'function',
    '"transport" must be a function that makes a transport for each connection',
  );
  for (const name of ['headers', 'auth'] as const) {
    check(options[name] === undefined || url !== undefined, `"${name}" is only for a server at a "url"`);
  }
  const problem = problemOfHeaders(options.headers);
  check(problem === undefined, String(problem));
  for (const name of ['args', 'env', 'cwd', 'stderr'] as const) {
    check(options[name] === undefined || command !== undefined, `"${name}" is only for a "command"`);
  }
}
