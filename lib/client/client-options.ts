import type { AuthProvider, OAuthClientProvider } from '@modelcontextprotocol/client';
import { readFileSync, statSync } from 'node:fs';
import { resolve as absolute } from 'node:path';
import { McpBootstrapError } from '../exceptions/mcp-bootstrap.error.js';
import type { InterceptorSettings, McpInterceptorOptions } from '../interceptors/interceptor-options.js';
import { CONNECTION, type ConnectionOptions } from '../connection/connection-options.js';
import { INTERCEPTORS } from '../interceptors/common-options.js';
import { resolve } from '../options/check-options.js';
import { FLAG, listOf, OBJECT, objectOf, pick, TEXT } from '../options/option-schema.js';
import { isRecord } from '../util/is-record.js';
import { reasonOf } from '../schema/schema.error.js';
import type { KnownTool } from '../connection/tool-definitions.js';

const INTERCEPTOR_OPTIONS = [
  'apply',
  'servers',
  'discovery',
  'policyFile',
  'overrides',
  'timeoutMs',
  'config',
] as const;

type McpClientInterceptorOptions = Pick<McpInterceptorOptions, (typeof INTERCEPTOR_OPTIONS)[number]>;

/** Options of one client: its name, and one of `url`, `command` and `transport`. A wrong option stops the start. */
export interface McpClientOptions extends ConnectionOptions {
  /** Name in the application: `@InjectMcpClient(name)`, `@OnElicitation(name)`. Unique in the application. */
  name: string;
  /** OAuth, or the source of bearer tokens, for a server at a `url`. Default: none. */
  auth?: AuthProvider | OAuthClientProvider;
  /** Runs the interceptors without a `server`, or with this client's name. Default: all, for 10,000 milliseconds per message. */
  interceptors?: McpClientInterceptorOptions;
  /** Tool definitions for `Mcp-Param-*` headers without a `listTools()`: a list, or the path of a JSON file. Default: none. */
  knownTools?: KnownToolsOption;
  /** Declares the tasks extension in calls, so that the server may answer with a task (2026-07-28). Default: true. */
  tasks?: boolean;
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
    tasks: { ...FLAG, default: true },
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

const MAX_BYTES = 8 * 1024 * 1024;

type KnownToolsOption = readonly KnownTool[] | string;

/** @throws Error for a file that is missing, over 8 MiB, or without a list of tools */
export function knownToolsOf(option: KnownToolsOption): readonly KnownTool[] {
  if (typeof option !== 'string') return option;
  const path = absolute(option);
  try {
    if (statSync(path).size > MAX_BYTES) throw new Error(`it is larger than ${MAX_BYTES} bytes`);
    const content: unknown = JSON.parse(readFileSync(path, 'utf8'));
    const tools: unknown = isRecord(content) ? content['tools'] : content;
    if (!Array.isArray(tools))
      throw new Error('it holds neither a list of tools nor the result of a tools/list');
    return tools as KnownTool[];
  } catch (error) {
    throw new Error(`${path} cannot be used: ${reasonOf(error)}`, { cause: error });
  }
}
