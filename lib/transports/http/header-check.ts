import type { IncomingMessage } from 'node:http';
import { isJSONRPCRequest, type JSONRPCRequest } from '@modelcontextprotocol/server';
import { McpErrorCode } from '../../exceptions/mcp.exception.js';
import { argumentAt, HEADER_PREFIX, type HeaderParam } from '../../schema/header-params.js';
import { decodeHeader, isHeaderScalar, mirrors } from '../../schema/header-value.js';

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
export class HeaderMismatchError extends Error {
  /**
   * @param header its name
   * @param body what it should repeat
   */
  constructor(
    private readonly id: JSONRPCRequest['id'],
    private readonly header: string,
    private readonly body: string,
    problem: string,
  ) {
    super(`Header mismatch: the ${header} header ${problem}`);
  }

  toResponse(): Response {
    const { id, header, body, message } = this;
    const data = { mismatch: { header, body } };
    return Response.json(
      { jsonrpc: '2.0', id, error: { code: McpErrorCode.HeaderMismatch, message, data } },
      { status: 400 },
    );
  }
}

/**
 * Checks the headers that may be encoded, once the SDK has found the standard headers in place. It would check
 * `Mcp-Param-*` itself, but takes Base64 that is not canonical, bytes outside ASCII and two headers for one, passes over
 * integers that are not exact and over a header without an argument, and refuses a text that starts with a byte order mark.
 * @param paramsOf the header parameters of a tool
 * @throws HeaderMismatchError
 */
export function assertHeadersMirror(
  request: IncomingMessage,
  message: unknown,
  paramsOf: (tool: string) => readonly HeaderParam[],
): void {
  if (!isJSONRPCRequest(message)) return;
  const { id, method, params = {} } = message;
  const source = Object.hasOwn(NAMED, method) ? NAMED[method] : undefined;
  const name = source && params[source];
  if (typeof name !== 'string') return;
  check(request, id, 'Mcp-Name', `params.${source}`, name, 'string');
  if (method !== 'tools/call') return;
  for (const param of paramsOf(name)) {
    const header = `${HEADER_PREFIX}${param.name}`;
    check(request, id, header, param.path.join('.'), argumentAt(params['arguments'], param), param.type);
  }
}

function check(
  { headers, rawHeaders }: IncomingMessage,
  id: JSONRPCRequest['id'],
  header: string,
  body: string,
  value: unknown,
  type: HeaderParam['type'],
): void {
  const key = header.toLowerCase();
  const fail = (problem: string): never => {
    throw new HeaderMismatchError(id, header, body, problem);
  };
  const text = headers[key];
  if (text === undefined) {
    // Whatever the type: a schema that converts would make a value of it that nobody has seen in a header.
    if (value !== undefined) fail(`is missing, but the body has a value for ${body}`);
    return;
  }
  // Node has trimmed it, and joins several with a comma; whoever routed the request may have read the first alone.
  if (rawHeaders.filter((name, index) => index % 2 === 0 && name.toLowerCase() === key).length > 1) {
    fail('is there more than once');
  }
  const decoded = decodeHeader(String(text));
  if (decoded === undefined) return fail('is malformed');
  if (value === undefined) fail(`has a value, but the body has none for ${body}`);
  if (!isHeaderScalar(value) || !mirrors(decoded, value, type)) fail(`differs from ${body} in the body`);
}
