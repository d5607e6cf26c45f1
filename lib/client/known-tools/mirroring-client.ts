import {
  Client,
  ProtocolError,
  ProtocolErrorCode,
  type CallToolRequestOptions,
  type ClientOptions,
  type Implementation,
  type ListToolsResult,
  type Request,
  type RequestMethod,
  type RequestOptions,
  type ResultTypeMap,
  type StandardSchemaV1,
} from '@modelcontextprotocol/client';
import { argumentAt, HEADER_PREFIX, readHeaderParams, type HeaderParam } from '../../headers/header-params.js';
import { encodeHeader, isHeaderScalar, isInexact } from '../../headers/header-value.js';
import type { ToolDefinitions } from './tool-definitions.js';

/**
 * The SDK's client, with `Mcp-Param-*` headers made here, of each request as it goes out: the SDK would not send an empty
 * header for an empty text, nor a tab in Base64, knows a tool only once it was listed, and warns on the console. Listing the
 * tools anew after a `HeaderMismatch` (-32020), and asking once more, is left to it.
 */
export class MirroringClient extends Client {
  /** @param tools the definitions of tools, where they are to be kept; without them, those that come with calls count */
  constructor(
    info: Implementation,
    options: ClientOptions,
    private readonly tools?: ToolDefinitions,
  ) {
    super(info, options);
  }

  override request<M extends RequestMethod>(
    request: { method: M; params?: Record<string, unknown> },
    options?: RequestOptions,
  ): Promise<ResultTypeMap[M]>;
  override request<T extends StandardSchemaV1>(
    request: Request,
    resultSchema: T,
    options?: RequestOptions,
  ): Promise<StandardSchemaV1.InferOutput<T>>;
  override async request(request: Request, ...rest: object[]): Promise<unknown> {
    if (!this.isHttp || this.getProtocolEra() !== 'modern') return this.pass(request, rest);
    if (request.method === 'tools/call') return this.pass(request, this.mirrored(request, rest));
    const result = await this.pass(request, rest);
    if (request.method !== 'tools/list' || !this.tools) return result;
    const page = result as Partial<ListToolsResult>;
    return Array.isArray(page.tools) ? { ...page, tools: this.tools.learn(page.tools) } : result;
  }

  /** By what it can do, for an application may have a transport of another copy of the SDK. */
  private get isHttp(): boolean {
    return this.transport !== undefined && 'terminateSession' in this.transport;
  }

  private pass(request: Request, rest: readonly object[]): Promise<unknown> {
    return super.request(request as { method: 'ping' }, ...(rest as [RequestOptions]));
  }

  /** The arguments of `request` after the first, with the headers of a call in its options. */
  private mirrored({ params = {} }: Request, rest: readonly object[]): object[] {
    const schemas = rest.filter(one => one && '~standard' in one);
    const { headers = {}, ...options } = (rest[schemas.length] ?? {}) as CallToolRequestOptions;
    const declared = this.headerParams(String(params['name']), options.toolDefinition);
    const others = Object.entries(headers).filter(([name]) => !PARAM_HEADER.test(name));
    return [
      ...schemas,
      {
        ...options,
        headers: {
          ...Object.fromEntries(others),
          ...(declared && headersOf(declared, params['arguments'])),
        },
      },
    ];
  }

  private headerParams(
    name: string,
    given: CallToolRequestOptions['toolDefinition'],
  ): readonly HeaderParam[] | undefined {
    // An interceptor may have made it the call of another tool.
    if (given?.name === name) {
      const found = readHeaderParams(given.inputSchema);
      return found.ok ? found.params : undefined;
    }
    const known = this.tools?.headerParams(name);
    if (!known) this.tools?.missing(name);
    return known;
  }
}

const PARAM_HEADER = new RegExp(`^${HEADER_PREFIX}`, 'i');

/** @throws ProtocolError (-32602) for an integer that a header must not hold */
function headersOf(params: readonly HeaderParam[], args: unknown): Record<string, string> {
  const headers: Record<string, string> = {};
  if (params.length === 0 || args === undefined) return headers;
  // As the body says it: JSON makes texts of dates, and leaves out what it has nothing for.
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
