import type { AuthProvider, OAuthClientProvider } from '@modelcontextprotocol/client';
import { McpBootstrapError } from '../exceptions/mcp-bootstrap.error.js';
import type { InterceptorSettings, McpInterceptorOptions } from '../interceptors/interceptor-options.js';
import { CONNECTION, type ConnectionOptions } from '../connection/connection-options.js';
import { INTERCEPTORS } from '../interceptors/resolve-interceptors.js';
import { resolve } from '../options/check-options.js';
import { listOf, OBJECT, objectOf, pick, TEXT } from '../options/option-schema.js';
import type { KnownToolsOption } from './known-tools/known-tools-option.js';

const INTERCEPTOR_OPTIONS = [
  'apply',
  'servers',
  'discovery',
  'policyFile',
  'overrides',
  'timeoutMs',
  'config',
] as const;

export type McpClientInterceptorOptions = Pick<McpInterceptorOptions, (typeof INTERCEPTOR_OPTIONS)[number]>;

/** Options of one client: its name, and one of `url`, `command` and `transport`. A wrong option stops the start. */
export interface McpClientOptions extends ConnectionOptions {
  /** What the application calls it: `@InjectMcpClient(name)`, `@OnElicitation(name)`. Unique in the application. */
  name: string;
  /** OAuth, or where bearer tokens come from, for a server at a `url`. Default: none. */
  auth?: AuthProvider | OAuthClientProvider;
  /** Runs the interceptors without a `server`, or with this client's name. Default: all, for 10,000 milliseconds per message. */
  interceptors?: McpClientInterceptorOptions;
  /** Tool definitions for `Mcp-Param-*` headers without a `listTools()`: a list, or the path of a JSON file. Default: none. */
  knownTools?: KnownToolsOption;
}

export interface ResolvedClientOptions extends Omit<McpClientOptions, 'interceptors'> {
  readonly interceptors: Pick<InterceptorSettings, keyof McpClientInterceptorOptions>;
}

export const CLIENT = objectOf<McpClientOptions, ResolvedClientOptions>(
  {
    name: { ...TEXT, description: 'a non-empty string; it is what the application calls the client' },
    auth: OBJECT,
    ...CONNECTION.properties,
    interceptors: {
      ...objectOf<McpClientInterceptorOptions, ResolvedClientOptions['interceptors']>(
        pick(INTERCEPTORS.properties, ...INTERCEPTOR_OPTIONS),
      ),
      default: {},
    },
    knownTools: {
      anyOf: [TEXT, listOf({})],
      description: 'a list of tools, or the path of a JSON file with one',
    },
  },
  {
    title: 'a client',
    required: ['name'],
    description: 'an object with a "name"',
    problem: (options: McpClientOptions, name) =>
      CONNECTION.problem?.(options as never, name) ??
      (options.auth !== undefined && options.url === undefined
        ? `${name('auth')} is only for a server at a "url"`
        : undefined),
  },
);

export const whereOf = (name: unknown): string =>
  `McpClientModule.register([{ name: ${JSON.stringify(name)} }])`;

/** @throws McpBootstrapError for an option that is missing, unknown or out of range */
export function resolveClientOptions(options: McpClientOptions): ResolvedClientOptions {
  const where = whereOf((options as Partial<McpClientOptions> | null)?.name);
  return resolve(CLIENT, options, problem => new McpBootstrapError(where, problem));
}

export function assertList(clients: unknown): asserts clients is readonly McpClientOptions[] {
  if (Array.isArray(clients)) return;
  throw new McpBootstrapError('McpClientModule', 'its clients must be a list, each with a "name"');
}
