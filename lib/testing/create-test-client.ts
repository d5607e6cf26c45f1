import type { Server } from 'node:http';
import type { INestApplication, Type } from '@nestjs/common';
import type {
  CallToolRequestOptions,
  Client,
  ClientCapabilities,
  CreateMessageRequest,
  CreateMessageResult,
  ElicitRequest,
  ElicitResult,
  ListRootsResult,
} from '@modelcontextprotocol/client';
import type { SkillsClient } from '@modelcontextprotocol/client/ext/skills';
import { loadSdkClient } from '../connection/sdk-client.js';
import type { TaskHandle } from '../connection/task-handle.js';
import { MCP_SERVERS, type McpServers } from '../module/mcp-servers.js';
import { fetchOnce } from './fetch-once.js';
import {
  toolNameOf,
  type ArgumentsOf,
  type MethodsOf,
  type ReturnedBy,
  type ToolResult,
} from './tool-call.js';

/**
 * Options of `createTestClient`. By default, the client speaks 2026-07-28 to the first server and does not answer input
 * requests.
 */
export interface TestClientOptions {
  /** The protocol era: `modern` for 2026-07-28, `legacy` for 2025-11-25. Default: `modern`. */
  era?: 'modern' | 'legacy';
  /** Name of the server to connect to. Default: the first server. */
  server?: string;
  /** Path of the endpoint. Default: the server's path, with the application's global prefix and version. */
  path?: string;
  /** HTTP headers for every request, such as `authorization`. */
  headers?: Record<string, string>;
  /** The client's capabilities. Default: the capabilities of the handlers below. */
  capabilities?: ClientCapabilities;
  /** Answers elicitations: forms and pages to visit. */
  onElicit?: (params: ElicitRequest['params']) => ElicitResult | Promise<ElicitResult>;
  /** Answers sampling requests in place of the model. */
  onSample?: (params: CreateMessageRequest['params']) => CreateMessageResult | Promise<CreateMessageResult>;
  /** Lists the client's folders. */
  onRoots?: () => ListRootsResult | Promise<ListRootsResult>;
  /** Whether the client declares the tasks extension (2026-07-28). Default: true. */
  tasks?: boolean;
}

/** The official client, which also waits for tasks and reads skills. */
export interface TestClient extends Client {
  /**
   * Lists and reads the skills of the server, and checks them as hosts do. Undefined if the server does not have
   * `McpSkillsModule`.
   */
  readonly skills: SkillsClient;
  /**
   * Calls the tool that a method of a class is: `client.call(CatalogTools, 'search', { query: 'lamp' })`. The compiler checks names
   * and types of the arguments, `jsonOf` knows the type of the result, and a renamed tool is still found.
   * @throws Error for a method without `@Tool`
   */
  call<T extends object, K extends MethodsOf<T>>(
    type: Type<T>,
    method: K,
    args?: ArgumentsOf<T[K]>,
  ): Promise<ToolResult<ReturnedBy<T[K]>>>;
  /** Calls a tool. If the call becomes a task, the handle reads it, waits for its result and cancels it. */
  startTool(params: Parameters<Client['callTool']>[0], options?: CallToolRequestOptions): Promise<TaskHandle>;
}

/**
 * Connects the official client to the application's real HTTP handler. If the application does not listen yet, it
 * starts on a free loopback port. Close both with `client.close()` and `app.close()`. A URL in place of the application is
 * the endpoint of a server that runs elsewhere.
 * @throws Error if the application does not have the server, or the server has no HTTP endpoint, or the package
 *   `@modelcontextprotocol/client` is missing
 * @example
 * ```ts
 * const client = await createTestClient(app, { era: 'legacy' });
 * const result = await client.callTool({ name: 'search', arguments: { query: 'lamp' } });
 * ```
 */
export async function createTestClient(
  app: INestApplication | URL,
  {
    era = 'modern',
    server,
    path,
    headers = {},
    onElicit,
    onSample,
    onRoots,
    tasks = true,
    ...options
  }: TestClientOptions = {},
): Promise<TestClient> {
  const capabilities = options.capabilities ?? {
    ...(onElicit && { elicitation: { form: {}, url: {} } }),
    ...(onSample && { sampling: {} }),
    ...(onRoots && { roots: {} }),
  };
  const { TaskClient, StreamableHTTPClientTransport } = await loadSdkClient('createTestClient');
  const closed = new AbortController();
  const client = new TaskClient(
    { name: 'nestjs-mcp-testing', version: '1.0.0' },
    { capabilities, versionNegotiation: { mode: era === 'modern' ? { pin: '2026-07-28' } : 'legacy' } },
    tasks ? own => ({ use: work => work(own), closed: closed.signal }) : undefined,
  );
  client.onclose = () => closed.abort();
  if (onElicit) client.setRequestHandler('elicitation/create', ({ params }) => onElicit(params));
  if (onSample) client.setRequestHandler('sampling/createMessage', ({ params }) => onSample(params));
  if (onRoots) client.setRequestHandler('roots/list', () => onRoots());
  const requestInit = { headers };
  await client.connect(
    app instanceof URL
      ? new StreamableHTTPClientTransport(app, { requestInit })
      : new StreamableHTTPClientTransport(await urlOf(app, path, server), { requestInit, fetch: fetchOnce }),
  );
  const call: TestClient['call'] = (type, method, args) =>
    client.callTool({
      name: toolNameOf(type, method, server),
      arguments: args,
    });
  return Object.assign(client, { call, skills: await skillsOf(client) });
}

/** Loaded only for a server that has skills. */
async function skillsOf(client: Client): Promise<SkillsClient> {
  const { extensions = {} } = client.getServerCapabilities() ?? {};
  if (!('io.modelcontextprotocol/skills' in extensions)) return undefined as never;
  const { SkillsClient } = await import('@modelcontextprotocol/client/ext/skills');
  // The ES and the CommonJS build declare their types separately.
  return new SkillsClient(client as never) as unknown as SkillsClient;
}

/** The path is known when the application listens. */
async function urlOf(
  app: INestApplication,
  path: string | undefined,
  server: string | undefined,
): Promise<URL> {
  const http = app.getHttpServer() as Server;
  if (!http.listening) await app.listen(0, '127.0.0.1');
  const address = http.address();
  if (address === null || typeof address === 'string')
    throw new Error('The application does not listen on a port');
  return new URL(path ?? pathOf(app, server), `http://127.0.0.1:${address.port}`);
}

function pathOf(app: INestApplication, name: string | undefined): string {
  const host = app.get<McpServers>(MCP_SERVERS, { strict: false }).get(name);
  const [path] = host?.paths ?? [];
  if (path === undefined)
    throw new Error(
      `The application has no MCP server${name === undefined ? '' : ` "${name}"`} with an HTTP endpoint; set the option "server" to another server`,
    );
  return path;
}
