import { randomBytes } from 'node:crypto';
import type { Server } from 'node:http';
import { APP_MIME_TYPE, APPS_EXTENSION } from '../../apps/app-context.js';
import { declaredIn } from '../../headers/header-check.js';
import { argumentAt, HEADER_PREFIX } from '../../headers/header-params.js';
import { encodeHeader, isHeaderScalar } from '../../headers/header-value.js';
import { DISPATCHED, METHODS, rowsOf } from '../../protocol/methods.js';
import type { McpServerInstance } from '../../server/mcp-server-instance.js';
import type { McpServers } from '../../module/mcp-servers.js';
import { REVISION } from '../../server/wire-codec.js';
import { isRecord } from '../../util/is-record.js';
import { jsonIn } from '../../util/json-in.js';
import { ApiFailure } from '../api-failure.js';
import type { AppView, CallEvent, CallTrace } from '../api.js';
import type { ApiRequest } from '../explorer-site.js';
import type { Recorder } from '../record/recorder.js';
import { callerIn, revisionIn, serverIn, targetOf } from './caller.js';
import { CAPABILITIES, InProcessClient } from './in-process-client.js';
import { eventOf, traceOf } from './trace.js';

const CLIENT_CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities';

const CALLABLE: readonly string[] = DISPATCHED.filter(method => METHODS.get(method)?.canAsk);

/** How long the trace waits for audit interceptors after the answer, in milliseconds. */
const AUDIT_MS = 1000;

interface Tool {
  readonly inputSchema?: object;
  readonly annotations?: { readonly readOnlyHint?: boolean };
}

/** Calls handlers for the page and records a trace of each call. */
export class Calls {
  /** The calls that run in a session, by their trace ids. */
  private readonly running = new Map<string, InProcessClient>();

  constructor(
    private readonly servers: McpServers,
    private readonly recorder: Recorder,
    private readonly httpServer: () => Server,
  ) {}

  /** @throws ApiFailure for a call that is not made */
  readonly call = async (request: ApiRequest): Promise<CallTrace | CallEvent> => {
    const { server, client, isSession } = this.connect(request);
    const { method, params, inputResponses, requestState, confirmed } = request.body;
    const own = typeof method === 'string' ? server.ownMethods.get(method) : undefined;
    if (typeof method !== 'string' || !(own || CALLABLE.includes(method)) || !isRecord(params)) {
      throw new ApiFailure(400, `A call has a "method" of ${CALLABLE.join(', ')}, and "params"`);
    }
    const tool = method === 'tools/call' ? await toolOf(server, params['name'], client) : undefined;
    const isReading = own ? false : method !== 'tools/call' || tool?.annotations?.readOnlyHint === true;
    if (!isReading && confirmed !== true) {
      throw new ApiFailure(409, `The ${own ? 'method' : 'tool'} may change something: confirm the call`);
    }
    const capabilities = declaring(server);
    const { extensions } = capabilities;
    // Without a stream, nobody would see what the server asks.
    const refused = await client.open(request.isStreamed ? capabilities : { extensions });
    const traceId = randomBytes(16).toString('hex');
    const traceparent = `00-${traceId}-${randomBytes(8).toString('hex')}-01`;
    const _meta = {
      traceparent,
      progressToken: traceId,
      ...(!isSession && {
        'io.modelcontextprotocol/logLevel': 'debug',
        [CLIENT_CAPABILITIES]: capabilities,
      }),
    };
    const whole = {
      ...params,
      _meta,
      ...(isRecord(inputResponses) && { inputResponses }),
      ...(typeof requestState === 'string' && { requestState }),
    };
    const headers = { traceparent, ...paramHeaders(tool, params['arguments']) };
    const { emit } = request;
    client.onMessage = received => {
      const event = eventOf(received, traceId);
      if (event) emit(event);
    };
    if (isSession) this.running.set(traceId, client);
    const started = performance.now();
    try {
      if (isSession && !refused && server.capabilities.logging) {
        await client.request('logging/setLevel', { level: 'debug' });
      }
      const { value, recording } = await this.recorder.record(async recorded => {
        if (refused) return { answer: refused, durationMs: 0 };
        const answer = await client.request(method, whole, { ...recorded, ...headers }, own?.nameHeader);
        return { answer, durationMs: performance.now() - started };
      }, AUDIT_MS);
      const trace = traceOf({ ...value, method, recording, traceId });
      // A stream ends with the trace as an event.
      return request.isStreamed ? { type: 'trace', trace } : trace;
    } finally {
      this.running.delete(traceId);
      await client.close();
    }
  };

  /** Answers what the server has asked in the session of a call. @throws ApiFailure for a call that does not wait */
  readonly answer = async ({ body: { call, key, result } }: ApiRequest): Promise<object> => {
    const client = typeof call === 'string' ? this.running.get(call) : undefined;
    const id = typeof key === 'string' ? jsonIn(key) : undefined;
    if (!client || id === undefined || !isRecord(result)) {
      throw new ApiFailure(404, 'The call does not run any more, or does not wait for this answer');
    }
    await client.post({ id, result });
    return {};
  };

  /** @throws ApiFailure for a resource that is no view, and for one that the caller may not read */
  readonly view = async (request: ApiRequest): Promise<AppView> => {
    const { server, client, isSession } = this.connect(request);
    const { uri } = request.body;
    if (typeof uri !== 'string') throw new ApiFailure(400, 'A view has a "uri"');
    const _meta = isSession ? {} : { [CLIENT_CAPABILITIES]: declaring(server) };
    const { response, status } =
      (await client.open()) ??
      (await client.request('resources/read', { uri, _meta }).finally(() => client.close()));
    const view = isRecord(response?.['result']) ? viewIn(response['result']) : undefined;
    if (view) return view;
    const { message } = (response?.['error'] ?? {}) as { readonly message?: string };
    const problem = message ?? (response ? `it is not of the type ${APP_MIME_TYPE}` : `HTTP ${status}`);
    throw new ApiFailure(502, `The view ${uri} cannot be shown: ${problem}`);
  };

  /** @throws ApiFailure for a revision that the server does not serve */
  private connect(request: ApiRequest) {
    const server = serverIn(request, this.servers);
    const caller = callerIn(request);
    if (caller.kind === 'synthetic')
      throw new ApiFailure(403, 'A synthetic caller sees lists and calls nothing');
    const revision = revisionIn(request, server);
    const target = targetOf(server, caller, request, this.httpServer(), this.recorder);
    return { server, client: new InProcessClient(target, revision), isSession: revision < REVISION };
  }
}

interface Content {
  readonly mimeType?: string;
  readonly text?: string;
  readonly blob?: string;
  readonly _meta?: { readonly ui?: { readonly csp?: AppView['csp'] } };
}

function viewIn({ contents }: Readonly<Record<string, unknown>>): AppView | undefined {
  const [content] = (contents ?? []) as readonly Content[];
  if (content?.mimeType !== APP_MIME_TYPE) return undefined;
  const { text, blob = '', _meta } = content;
  return { html: text ?? Buffer.from(blob, 'base64').toString(), csp: _meta?.ui?.csp ?? {} };
}

/** What a client declares of an extension, besides its identifier. */
const SETTINGS: Readonly<Record<string, object>> = { [APPS_EXTENSION]: { mimeTypes: [APP_MIME_TYPE] } };

/** A method may need a client that declares its extension, and only such a client gets tasks. */
const declaring = ({ capabilities: { extensions = {} } }: McpServerInstance) => ({
  ...CAPABILITIES,
  extensions: Object.fromEntries(Object.keys(extensions).map(id => [id, SETTINGS[id] ?? {}])),
});

/** A gateway's tools are known only from its list, as its caller gets it. */
async function toolOf(
  server: McpServerInstance,
  name: unknown,
  client: InProcessClient,
): Promise<Tool | undefined> {
  if (!server.handlers.isRemote) return server.catalog.tools.get(String(name))?.definition;
  const { response } = await client.request('tools/list', {});
  const rows = isRecord(response?.['result']) ? rowsOf('tools/list', response['result']) : [];
  return rows.find(row => row['name'] === name);
}

function paramHeaders(tool: Tool | undefined, args: unknown): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const param of declaredIn(tool?.inputSchema)) {
    const value = argumentAt(args, param);
    if (isHeaderScalar(value)) headers[HEADER_PREFIX + param.name] = encodeHeader(String(value));
  }
  return headers;
}
