import type * as Sdk from '@modelcontextprotocol/client';
import type {
  CallToolRequestOptions,
  ClientOptions,
  Implementation,
  ListToolsResult,
  Request,
} from '@modelcontextprotocol/client';
import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import { argumentAt, HEADER_PREFIX, readHeaderParams } from '../headers/header-params.js';
import type { HeaderParam } from '../protocol/header-param.js';
import { encodeHeader, isHeaderScalar, isInexact } from '../headers/header-value.js';
import type { Observer } from '../protocol/traffic.js';
import type { Observation } from '../protocol/observation.js';
import type { TaskAccess } from './client-task.js';
import { taskClient, type TaskPassingClient } from './task-client.js';
import type { ToolDefinitions } from './tool-definitions.js';

/** The id of the next request of the SDK's client, which has no public accessor. */
interface NextId {
  readonly _requestMessageId?: number;
}

/** Observes work to its end. @param signal whether the work was cancelled */
export async function observed<T>(
  seen: Observation,
  work: () => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  try {
    const result = await seen.run(work);
    seen.end({ result });
    return result;
  } catch (error) {
    seen.end({ error, ...(signal?.aborted && { aborted: 'cancelled' }) });
    throw error;
  }
}

export interface HeaderParameterClientParts {
  readonly tools?: ToolDefinitions;
  readonly observer?: Observer;
  /** How tasks of calls reach the server. Without it, the client declares no tasks. */
  readonly tasks?: TaskAccess;
}

type HeaderParameterClient = new (
  info: Implementation,
  options: ClientOptions,
  parts?: HeaderParameterClientParts,
) => TaskPassingClient;

/**
 * Sends the `Mcp-Param-*` headers of calls. The SDK encodes an empty string, drops inexact integers, and knows no tool
 * before a list.
 */
export function headerParameterClient(sdk: typeof Sdk): HeaderParameterClient {
  return class HeaderParameterClient extends taskClient(sdk) {
    private readonly tools?: ToolDefinitions;
    private readonly observer?: Observer;

    constructor(
      info: Implementation,
      options: ClientOptions,
      { tools, observer, tasks }: HeaderParameterClientParts = {},
    ) {
      super(info, options, tasks && (() => tasks));
      this.tools = tools;
      this.observer = observer;
      // `learn` leaves out invalid tools. The SDK would also leave out a parameter of the type `["string", "null"]`, and
      // write that to the console.
      Object.defineProperty(this, '_excludeInvalidXMcpHeaderTools', { value: () => undefined });
    }

    override async exchange(request: Request, rest: readonly (object | undefined)[]): Promise<unknown> {
      const { method, params } = request;
      const seen = this.observer?.begin({
        requestId: (this as unknown as NextId)._requestMessageId,
        method,
        params,
        era: this.getProtocolEra(),
        protocolVersion: this.getNegotiatedProtocolVersion(),
        sessionId: this.transport?.sessionId,
      });
      if (!seen) return this.send(request, rest);
      return observed(seen, () => this.send({ ...request, params: seen.outgoing(params) }, rest));
    }

    private async send(request: Request, rest: readonly (object | undefined)[]): Promise<unknown> {
      const { method, params = {} } = request;
      const send = (sent = rest) => super.exchange(request, sent);
      if (!this.isHttp || this.getProtocolEra() !== 'modern') return send();
      if (method === 'tools/call') {
        const schema = rest.filter(one => one && '~standard' in one);
        const options = this.mirrored(params, rest[schema.length]);
        return send([...schema, options]);
      }
      const result = (await send()) as Partial<ListToolsResult>;
      if (method !== 'tools/list' || !this.tools || !Array.isArray(result.tools)) return result;
      return { ...result, tools: this.tools.learn(result.tools) };
    }

    /** Checked by method, not by `instanceof`: an application may use a transport of another copy of the SDK. */
    private get isHttp(): boolean {
      return this.transport !== undefined && 'terminateSession' in this.transport;
    }

    private mirrored(
      params: NonNullable<Request['params']>,
      { headers = {}, ...options }: CallToolRequestOptions = {},
    ): CallToolRequestOptions {
      const others = Object.entries(headers).filter(([name]) => !PARAM_HEADER.test(name));
      const given = options.toolDefinition && readHeaderParams(options.toolDefinition.inputSchema);
      const declared = given ? given.ok && given.params : this.tools?.headerParams(String(params['name']));
      const own = declared ? headersOf(declared, params['arguments']) : {};
      return { ...options, headers: { ...Object.fromEntries(others), ...own } };
    }
  };
}

const PARAM_HEADER = new RegExp(`^${HEADER_PREFIX}`, 'i');

/** @throws ProtocolError (-32602) for an integer that a header cannot hold */
function headersOf(params: readonly HeaderParam[], args: unknown): Record<string, string> {
  const headers: Record<string, string> = {};
  if (params.length === 0 || args === undefined) return headers;
  // Converted as in the body: JSON writes dates as strings and omits functions.
  const sent: unknown = JSON.parse(JSON.stringify(args));
  for (const param of params) {
    const value = argumentAt(sent, param);
    if (!isHeaderScalar(value)) continue;
    if (isInexact(value)) {
      throw new ProtocolError(
        ProtocolErrorCode.InvalidParams,
        `The argument ${param.path.join('.')} is sent in a header, which holds integers from -(2^53 - 1) to 2^53 - 1`,
      );
    }
    headers[`${HEADER_PREFIX}${param.name}`] = encodeHeader(String(value));
  }
  return headers;
}
