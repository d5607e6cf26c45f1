import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  isInputRequiredResult,
  LOG_LEVEL_META_KEY,
  PerRequestHTTPServerTransport,
  PROTOCOL_VERSION_META_KEY,
  ResourceNotFoundError,
  Server,
  SERVER_INFO_META_KEY,
  SUPPORTED_PROTOCOL_VERSIONS,
  type CacheHint,
  type CallToolResult,
  type Implementation,
  type Result,
} from '@modelcontextprotocol/server';
import { McpErrorCode, McpException } from '../exceptions/mcp.exception.js';
import { assertDeclared } from '../elicitation/requests/errors.js';
import type { Era, McpCall, Params } from '../protocol/mcp-call.js';
import { isRecord } from '../util/is-record.js';
import { LISTEN, mayAsk } from '../protocol/methods.js';
import type { JsonRpcError } from '../protocol/errors.js';
import { isPlainCall, isPlainResult, isSameJson } from '../protocol/plain-messages.js';

export const REVISION = '2026-07-28';

/** The revisions of the 2025 era and before, the newest first. */
export const LEGACY_REVISIONS: readonly string[] = SUPPORTED_PROTOCOL_VERSIONS;

/** The code of a missing resource in the 2025 revisions (2025-11-25: server/resources, error handling). */
export const RESOURCE_NOT_FOUND = -32002;

/** Exposes the SDK's codecs, which check and write the messages of each era. Only the SDK's servers can reach them. */
class CodecServer extends Server {
  codec() {
    return this._wireCodec();
  }
}

const CODECS: Readonly<Record<Era, ReturnType<CodecServer['codec']>>> = {
  legacy: new CodecServer({ name: '', version: '' }).codec(),
  modern: modernCodec(),
};

/** The codec of 2026-07-28. A server takes the era of the transport that it is connected to. */
function modernCodec() {
  const server = new CodecServer({ name: '', version: '' }, { supportedProtocolVersions: [REVISION] });
  void server.connect(
    new PerRequestHTTPServerTransport({ classification: { era: 'modern', revision: REVISION } }),
  );
  return server.codec();
}

/** Maximum number of remembered names of clients, of envelopes for each name, and of characters of an envelope. */
const MAX_NAMES = 100;
const MAX_ENVELOPES = 10;
const MAX_ENVELOPE_LENGTH = 2000;

interface Envelope {
  readonly info: unknown;
  readonly capabilities: unknown;
}

/** The valid envelopes of clients, by name. A client repeats its envelope in each request, and the check is slow. */
const envelopes = new Map<unknown, readonly Envelope[]>();

/** Whether a request's `_meta` is a complete envelope of 2026-07-28 (basic/index, `_meta`). */
export function isEnvelope(meta: Params | undefined): boolean {
  if (meta?.[PROTOCOL_VERSION_META_KEY] !== REVISION) return false;
  const { [CLIENT_INFO_META_KEY]: info, [CLIENT_CAPABILITIES_META_KEY]: capabilities } = meta;
  const { progressToken = 0, [LOG_LEVEL_META_KEY]: level } = meta;
  const name = isRecord(info) ? info['name'] : undefined;
  const known = envelopes.get(name) ?? [];
  let isKnown = false;
  for (const one of known) {
    isKnown ||= isSameJson(info, one.info) && isSameJson(capabilities, one.capabilities);
  }
  if (isKnown && level === undefined && Number.isSafeInteger(progressToken)) return true;
  const isValid = CODECS.modern.validateEnvelopeMeta(meta).length === 0;
  if (isValid && !isKnown && JSON.stringify([info, capabilities]).length <= MAX_ENVELOPE_LENGTH) {
    if (envelopes.size >= MAX_NAMES) envelopes.clear();
    envelopes.set(name, [{ info, capabilities }, ...known.slice(0, MAX_ENVELOPES - 1)]);
  }
  return isValid;
}

/** @throws McpException (-32602) for params that the revision does not allow */
export function assertRequest({ method, params, era, requestState }: McpCall): void {
  if (method === 'tools/call' && !isPlainCall(params)) {
    const checked = CODECS[era].validateRequest(method, { method, params });
    if (!checked.ok) {
      throw new McpException(McpErrorCode.InvalidParams, `Invalid ${method} request: ${said(checked)}`);
    }
  }
  if (requestState === undefined || typeof requestState === 'string' || !mayAsk(method)) return;
  const data = { reason: 'invalid_request_state' };
  throw new McpException(McpErrorCode.InvalidParams, 'Invalid or expired requestState', data);
}

/** Whether params hold a filter of `subscriptions/listen`. Extensions may have further fields in it. */
export const isListenFilter = (params: Params): boolean =>
  CODECS.modern.validateRequest(LISTEN, { method: LISTEN, params }).ok;

/**
 * Checks and completes the result of a call for its revision.
 * @param outputSchema the output schema of the called tool
 * @throws Error for a result that the revision does not allow; McpException (-32021) for an input request that the
 * client has not declared
 */
export function checkedResult(
  { method, era, clientCapabilities }: McpCall,
  result: Result,
  outputSchema?: Params,
): Result {
  if (isInputRequiredResult(result)) {
    const { inputRequests, requestState } = result;
    const asked = Object.values(inputRequests ?? {});
    if (!mayAsk(method)) throw new Error(`${method} cannot ask the client for input`);
    if (asked.length === 0 && typeof requestState !== 'string') {
      throw new Error('An input_required result needs "inputRequests" or a "requestState"');
    }
    assertDeclared(asked, clientCapabilities);
    return result;
  }
  if (method !== 'tools/call') return result;
  const codec = CODECS[era];
  const projected = codec.projectCallToolResult(result as CallToolResult, outputSchema);
  if (isPlainResult(projected)) return projected;
  const whole = projected.content === undefined ? { ...projected, content: [] } : projected;
  const checked = codec.validateResult(method, whole);
  if (!checked.ok) throw new Error(`The result is not a CallToolResult: ${said(checked)}`);
  return checked.value;
}

/**
 * Writes the result in the form of its revision.
 * @param cache the cache hint for a result without its own hint (2026-07-28)
 */
export const encodeResult = (
  { method, era }: Pick<McpCall, 'method' | 'era'>,
  result: Result,
  server: Implementation,
  cache: CacheHint | undefined,
): Result =>
  CODECS[era].encodeResult(
    // The codec does not know that methods of extensions may ask, too.
    isInputRequiredResult(result) ? 'tools/call' : method,
    era === 'modern' ? stamped(cache ? { ...cache, ...result } : result, server) : result,
    server,
  );

/** A constant, because an import is looked up for each call. */
const SERVER_INFO = SERVER_INFO_META_KEY;

/** Adds what the codec would add. It copies the result for each field, which takes longer than to check the result. */
const stamped = (result: Result, server: Implementation): Result =>
  result['resultType'] === undefined && result._meta === undefined
    ? Object.assign({}, result, { resultType: 'complete', _meta: { [SERVER_INFO]: server } })
    : result;

/** Writes the error in the form of its revision. */
export function encodeError(
  { era }: Pick<McpCall, 'era'>,
  error: Error & { code: number; data?: unknown },
): JsonRpcError {
  const { code, message, data } = error;
  const isMissing = era === 'legacy' && error instanceof ResourceNotFoundError;
  return {
    code: isMissing ? RESOURCE_NOT_FOUND : CODECS[era].encodeErrorCode(code),
    message,
    ...(data !== undefined && { data }),
  };
}

const said = (checked: { reason: string; message?: string }): string => checked.message ?? checked.reason;
