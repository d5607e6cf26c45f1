import type { IncomingMessage } from 'node:http';
import { isJSONRPCRequest, type JSONRPCRequest } from '@modelcontextprotocol/server';
import { McpErrorCode, McpException } from '../../exceptions/mcp.exception.js';
import { argumentAt, HEADER_PREFIX, type HeaderParam } from '../../headers/header-params.js';
import { decodeHeader, isHeaderScalar, mirrors } from '../../headers/header-value.js';

/** What `Mcp-Name` repeats, by method. */
const NAMED: Readonly<Record<string, 'name' | 'uri'>> = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
};

/**
 * A request of 2026-07-28 whose headers do not repeat its body. Specification: basic/transports/streamable-http, server
 * validation.
 */
export class HeaderMismatchError extends McpException {
  /**
   * @param header its name
   * @param body what it should repeat
   */
  constructor(header: string, body: string, problem: string) {
    super(McpErrorCode.HeaderMismatch, `Header mismatch: the ${header} header ${problem}`, {
      mismatch: { header, body },
    });
  }

  toResponse(id: unknown): Response {
    const { code, message, data } = this;
    return Response.json({ jsonrpc: '2.0', id, error: { code, message, data } }, { status: 400 });
  }
}

/**
 * Checks the standard header that may be encoded, once the SDK has found all of them in place.
 * @throws HeaderMismatchError
 */
export function assertNameMirrored(request: IncomingMessage, message: unknown): void {
  if (!isJSONRPCRequest(message)) return;
  const { method, params = {} } = message;
  const source = Object.hasOwn(NAMED, method) ? NAMED[method] : undefined;
  const name = source && params[source];
  if (typeof name === 'string') check(request, 'Mcp-Name', `params.${source}`, name, 'string');
}

/**
 * Checks the `Mcp-Param-*` headers of a call. The SDK would do so itself, but takes Base64 that is not canonical, bytes
 * outside ASCII and two headers for one, passes over integers that are not exact and over a header without an argument, and
 * refuses a text that starts with a byte order mark.
 * @param declared what the definition of the tool says
 * @throws HeaderMismatchError
 */
export function assertParamsMirrored(
  request: IncomingMessage,
  message: unknown,
  declared: readonly HeaderParam[],
): void {
  const { params = {} } = message as JSONRPCRequest;
  for (const param of declared) {
    const header = `${HEADER_PREFIX}${param.name}`;
    check(request, header, param.path.join('.'), argumentAt(params['arguments'], param), param.type);
  }
}

/**
 * Whether Node may have left out headers: beyond a limit it does, and says nothing. Whoever routed the request may have read
 * what is not there.
 */
export function mayLackHeaders({ rawHeaders, socket }: IncomingMessage): boolean {
  const { server } = socket as { server?: { maxHeadersCount?: number | null } };
  const limit = server?.maxHeadersCount ?? NODE_MAX_HEADERS;
  return limit > 0 && rawHeaders.length >= 2 * limit;
}

/** Node's own limit, where the application sets none. */
const NODE_MAX_HEADERS = 1000;

/**
 * Whether a header is there more than once.
 * @param name in lower case
 */
export function isRepeated({ rawHeaders }: IncomingMessage, name: string): boolean {
  return rawHeaders.filter((text, index) => index % 2 === 0 && text.toLowerCase() === name).length > 1;
}

function check(
  request: IncomingMessage,
  header: string,
  body: string,
  value: unknown,
  type: HeaderParam['type'],
): void {
  const key = header.toLowerCase();
  const fail = (problem: string): never => {
    throw new HeaderMismatchError(header, body, problem);
  };
  const text = request.headers[key];
  if (text === undefined) {
    // Whatever the type: a schema that converts would make a value of it that nobody has seen in a header.
    if (value !== undefined) fail(`is missing, but the body has a value for ${body}`);
    return;
  }
  // Node has trimmed it, and joins several with a comma; whoever routed the request may have read the first alone.
  if (isRepeated(request, key)) fail('is there more than once');
  const decoded = decodeHeader(String(text));
  if (decoded === undefined) return fail('is malformed');
  if (value === undefined) fail(`has a value, but the body has none for ${body}`);
  if (!isHeaderScalar(value) || !mirrors(decoded, value, type)) fail(`differs from ${body} in the body`);
}
