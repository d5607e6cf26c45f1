import type { ListToolsResult, Result } from '@modelcontextprotocol/server';
import { argumentAt, HEADER_PREFIX, readHeaderParams, type HeaderParam } from './header-params.js';
import { decodeHeader, isHeaderScalar, mirrors } from './header-value.js';
import { McpErrorCode, McpException } from '../exceptions/mcp.exception.js';
import type { HttpExchange, McpCall } from '../protocol/mcp-call.js';

/** A text that stands for itself in a header. */
const PLAIN = /^(?!=\?)[\x20-\x7e]*$/;

/** What `Mcp-Name` repeats, by method. */
const NAMED: Readonly<Record<string, 'name' | 'uri'>> = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
};

type Headers = Pick<HttpExchange, 'headers' | 'rawHeaders'>;

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
}

/**
 * Checks the `Mcp-Param-*` headers of a call; a promise if the tool's schema has to be asked for.
 * @param shown the page of the list that shows the tool to its caller; by default the tool as it is
 * @throws HeaderMismatchError
 */
export type HeaderCheck = (call: McpCall, shown?: Result) => void | Promise<void>;

type Declared = readonly HeaderParam[];

/** @param declaredBy the header parameters of a tool */
export const headerCheck =
  (declaredBy: (tool: string, call: McpCall) => Declared | Promise<Declared>): HeaderCheck =>
  (call, shown) => {
    const { method, era, http, params } = call;
    const { name } = params;
    if (method !== 'tools/call' || era !== 'modern' || !http || typeof name !== 'string') return;
    const compare = (declared: Declared) => assertParamHeaders(http, params['arguments'], declared);
    if (shown) {
      const { tools } = shown as Partial<ListToolsResult>;
      return compare(declaredIn(tools?.find(tool => tool.name === name)?.inputSchema));
    }
    const declared = declaredBy(name, call);
    if (!(declared instanceof Promise)) return compare(declared);
    return declared.then(compare, (error: unknown) => {
      // A backend that cannot list may serve calls: it is sent no headers, and says itself where one is missing.
      const prefix = HEADER_PREFIX.toLowerCase();
      if (Object.keys(http.headers).some(header => header.startsWith(prefix))) throw error;
    });
  };

/** What a schema declares that the application has not written, as far as it declares it well. */
export function declaredIn(inputSchema: object | undefined): Declared {
  const found = inputSchema && readHeaderParams(inputSchema);
  return found?.ok ? found.params : [];
}

/**
 * Checks the standard header that may be encoded.
 * @returns false if the body has no name for it to repeat
 * @throws HeaderMismatchError
 */
export function assertNameHeader(
  headers: Headers,
  method: string,
  params: Readonly<Record<string, unknown>>,
): boolean {
  const source = Object.hasOwn(NAMED, method) ? NAMED[method] : undefined;
  if (source === undefined) return true;
  const name = params[source];
  if (typeof name !== 'string') return false;
  check(headers, 'Mcp-Name', `params.${source}`, name, 'string');
  return true;
}

/**
 * The SDK would check the `Mcp-Param-*` headers itself, but takes Base64 that is not canonical, bytes outside ASCII and two
 * headers for one, passes over integers that are not exact and over a header without an argument, and refuses a text that
 * starts with a byte order mark.
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
 * Whether a header is there more than once.
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
    // Whatever the type: a schema that converts would make a value of it that nobody has seen in a header.
    if (value !== undefined) fail(`is missing, but the body has a value for ${body}`);
    return;
  }
  if (text === value && PLAIN.test(String(text)) && !isRepeated({ rawHeaders }, key)) return;
  // Node has trimmed it, and joins several with a comma; whoever routed the request may have read the first alone.
  if (isRepeated({ rawHeaders }, key)) fail('is there more than once');
  const decoded = decodeHeader(String(text));
  if (decoded === undefined) return fail('is malformed');
  if (value === undefined) fail(`has a value, but the body has none for ${body}`);
  if (!isHeaderScalar(value) || !mirrors(decoded, value, type)) fail(`differs from ${body} in the body`);
}
