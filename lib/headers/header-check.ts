import type { ListToolsResult, Result } from '@modelcontextprotocol/server';
import { argumentAt, HEADER_PREFIX, readHeaderParams } from './header-params.js';
import type { HeaderParam } from '../protocol/header-param.js';
import { decodeHeader, isHeaderScalar, mirrors } from './header-value.js';
import { McpErrorCode, McpException } from '../exceptions/mcp.exception.js';
import type { HttpExchange, McpCall } from '../protocol/mcp-call.js';
import { itemOf, METHODS } from '../protocol/methods.js';

/** Text that a header carries without encoding. */
const PLAIN = /^(?!=\?)[\x20-\x7e]*$/;

type Headers = Pick<HttpExchange, 'headers' | 'rawHeaders'>;

/**
 * The headers of a 2026-07-28 request do not match its body. Specification: basic/transports/streamable-http, server
 * validation.
 */
export class HeaderMismatchError extends McpException {
  /**
   * @param header the name of the header
   * @param body the path of the value that the header should repeat
   */
  constructor(header: string, body: string, problem: string) {
    super(McpErrorCode.HeaderMismatch, `Header mismatch: the ${header} header ${problem}`, {
      mismatch: { header, body },
    });
  }
}

/**
 * Checks the `Mcp-Param-*` headers of a call. Returns a promise if it first has to request the tool's schema.
 * @param shown the list page that shows the tool to its caller. Default: the tool as declared
 * @throws HeaderMismatchError
 */
export type HeaderCheck = (call: McpCall, shown?: Result) => void | Promise<void>;

type Declared = readonly HeaderParam[];

/** @param declaredBy the header parameters of a tool */
export const headerCheck =
  (declaredBy: (tool: string, call: McpCall) => Declared | Promise<Declared>): HeaderCheck =>
  (call, shown) => {
    const { method, era, http, params, isIndirect } = call;
    const { name } = params;
    if (method !== 'tools/call' || era !== 'modern' || !http || typeof name !== 'string') return;
    const compare = (declared: Declared) =>
      assertParamHeaders(http, params['arguments'], isIndirect ? sentOf(declared, http) : declared);
    if (shown) {
      const { tools } = shown as Partial<ListToolsResult>;
      return compare(declaredIn(tools?.find(tool => tool.name === name)?.inputSchema));
    }
    const declared = declaredBy(name, call);
    if (!(declared instanceof Promise)) return compare(declared);
    return declared.then(compare, (error: unknown) => {
      // A backend that cannot list tools may still serve calls. It gets no headers, and reports a missing header
      // itself.
      const prefix = HEADER_PREFIX.toLowerCase();
      if (Object.keys(http.headers).some(header => header.startsWith(prefix))) throw error;
    });
  };

/** The header parameters that a request has. */
const sentOf = (declared: Declared, { headers }: Headers): Declared =>
  declared.filter(({ name }) => `${HEADER_PREFIX}${name}`.toLowerCase() in headers);

/**
 * Reads the header parameters of a schema that another server wrote. An invalid declaration counts as no header
 * parameters.
 */
export function declaredIn(inputSchema: object | undefined): Declared {
  const found = inputSchema && readHeaderParams(inputSchema);
  return found?.ok ? found.params : [];
}

/**
 * Checks `Mcp-Name`, the standard header that may be encoded.
 * @param ownField the field that the header repeats for a method of an extension
 * @returns false if the body has no name for the header to repeat
 * @throws HeaderMismatchError
 */
export function assertNameHeader(
  headers: Headers,
  method: string,
  params: Readonly<Record<string, unknown>>,
  ownField?: string,
): boolean {
  const own = ownField === undefined ? undefined : { field: ownField, id: params[ownField] };
  const item = own ?? (METHODS.get(method)?.hasNameHeader && itemOf(method, params));
  if (!item) return true;
  if (typeof item.id !== 'string') return false;
  check(headers, 'Mcp-Name', `params.${item.field}`, item.id, 'string');
  return true;
}

/**
 * Replaces the SDK's own check of the `Mcp-Param-*` headers, which is too lax and too strict. It accepts Base64 that is
 * not canonical, bytes outside ASCII and repeated headers. It ignores inexact integers and a header without an
 * argument. It refuses a text that starts with a byte order mark.
 */
function assertParamHeaders(headers: Headers, args: unknown, declared: readonly HeaderParam[]): void {
  for (const param of declared) {
    check(
      headers,
      `${HEADER_PREFIX}${param.name}`,
      param.path.join('.'),
      argumentAt(args, param),
      param.type,
    );
  }
}

/**
 * Whether a request has a header more than once.
 * @param name in lower case
 */
export function isRepeated({ rawHeaders }: Pick<Headers, 'rawHeaders'>, name: string): boolean {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    if (rawHeaders[index].length === name.length && rawHeaders[index].toLowerCase() === name) count += 1;
  }
  return count > 1;
}

function check(
  { headers, rawHeaders }: Headers,
  header: string,
  body: string,
  value: unknown,
  type: HeaderParam['type'],
): void {
  const key = header.toLowerCase();
  const fail = (problem: string): never => {
    throw new HeaderMismatchError(header, body, problem);
  };
  const text = headers[key];
  if (text === undefined) {
    // Checked for any type: a converting schema could turn the value into a string that proxies never saw in a header.
    if (value !== undefined) fail(`is missing, but the body has a value for ${body}`);
    return;
  }
  if (text === value && PLAIN.test(String(text)) && !isRepeated({ rawHeaders }, key)) return;
  // Node trims the value and joins repeated headers with a comma. A proxy may have read only the first.
  if (isRepeated({ rawHeaders }, key)) fail('is there more than once');
  const decoded = decodeHeader(String(text));
  if (decoded === undefined) return fail('is malformed');
  if (value === undefined) fail(`has a value, but the body has none for ${body}`);
  if (!isHeaderScalar(value) || !mirrors(decoded, value, type)) fail(`differs from ${body} in the body`);
}
