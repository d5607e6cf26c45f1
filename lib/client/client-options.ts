import type { AuthProvider, OAuthClientProvider } from '@modelcontextprotocol/client';
import { McpBootstrapError } from '../exceptions/mcp-bootstrap.error.js';
import type { InterceptorSettings, McpInterceptorOptions } from '../interceptors/interceptor-options.js';
import { resolveInterceptors } from '../interceptors/resolve-interceptors.js';
import { checker } from '../option-check.js';
import { isText } from '../option-rules.js';
import { isRecord } from '../schema/plain-json.js';
import {
  checkConnection,
  CONNECTION_OPTIONS,
  type ConnectionOptions,
} from '../connection/connection-options.js';
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
  'auth',
  ...CONNECTION_OPTIONS,
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
  checkConnection(rest, check);
  check(rest.auth === undefined || rest.url !== undefined, '"auth" is only for a server at a "url"');
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
