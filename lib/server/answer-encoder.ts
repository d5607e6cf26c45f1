import type { CacheHint, Result } from '@modelcontextprotocol/server';
import type { McpCall } from '../protocol/mcp-call.js';
import { METHODS } from '../protocol/methods.js';
import { isProtocolError, unexpected } from '../protocol/errors.js';
import { traceIdOf } from '../protocol/trace-id.js';
import { UnknownMethodError } from '../protocol/unknown.js';
import { AuthChallenge } from '../exceptions/auth-challenge.js';
import { LimitReached } from '../protocol/caller-limit.js';
import { UnavailableException } from '../exceptions/unavailable.exception.js';
import { HeaderMismatchError } from '../headers/header-check.js';
import type { McpServerInstance } from './mcp-server-instance.js';
import { checkedResult, encodeError, encodeResult } from './wire-codec.js';

/** A JSON-RPC answer with its HTTP status. */
export interface EncodedAnswer {
  readonly json: string;
  readonly status: number;
  /** Headers of the HTTP response, in addition to the usual headers. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** The code of `MissingRequiredClientCapabilityError`. */
const MISSING_CAPABILITY = -32021;

/** The JSON of each list page. The pages of a catalogue stay the same until the catalogue changes. */
const LISTS = new WeakMap<Result, Partial<Record<McpCall['era'], string>>>();

/** Answers a call in JSON. */
export async function answerInJson(server: McpServerInstance, call: McpCall): Promise<EncodedAnswer> {
  try {
    const result = await server.serve(call, answer => {
      if (METHODS.get(call.method)?.lists) return encodeList(server, call, answer);
      const complete = whole(server, call, answer);
      return complete instanceof Promise
        ? complete.then(known => encode(server, call, known))
        : encode(server, call, complete);
    });
    const id = JSON.stringify(call.requestId);
    return { json: `{"jsonrpc":"2.0","id":${id},"result":${result}}`, status: 200 };
  } catch (error) {
    if (error instanceof AuthChallenge) server.refused(error.status);
    return encodeFailure(call, error);
  }
}

function encodeList(server: McpServerInstance, call: McpCall, result: Result): string {
  const known = LISTS.get(result) ?? {};
  LISTS.set(result, known);
  return (known[call.era] ??= encode(server, call, checkedResult(call, result)));
}

function encode({ info, options }: McpServerInstance, call: McpCall, result: Result): string {
  const hints: Readonly<Record<string, CacheHint | undefined>> = options.cache;
  return JSON.stringify(
    encodeResult(call, result, info, METHODS.has(call.method) ? hints[call.method] : undefined),
  );
}

/** Completes the result with the fields that its revision requires. The result is not encoded yet. */
export function whole(server: McpServerInstance, call: McpCall, result: Result): Result | Promise<Result> {
  if (server.extensions.resultTypes.has(result['resultType'])) return result;
  const { method, era, params } = call;
  // Only for 2025-era clients, the form of structured content depends on the schema.
  const depends = method === 'tools/call' && era === 'legacy' && result['structuredContent'] !== undefined;
  if (!depends) return checkedResult(call, result);
  const schema = server.outputSchema(params['name'] as string, call);
  return schema instanceof Promise
    ? schema.then(known => checkedResult(call, result, known))
    : checkedResult(call, result, schema);
}

export function encodeFailure(
  call: Pick<McpCall, 'requestId' | 'era' | 'method'> & Partial<Pick<McpCall, 'meta' | 'http'>>,
  thrown: unknown,
): EncodedAnswer {
  const error = isProtocolError(thrown) ? thrown : unexpected(thrown, call.method, traceIdOf(call));
  const write = (known: typeof error) =>
    JSON.stringify({ jsonrpc: '2.0', id: call.requestId, error: encodeError(call, known) });
  // The client uses the status to log in or to try again later, in both eras.
  if (error instanceof AuthChallenge || error instanceof LimitReached) {
    return { json: write(error), status: error.status, headers: error.headers };
  }
  const status = call.era === 'modern' ? statusOf(error) : 200;
  try {
    return { json: write(error), status };
  } catch (unwritable) {
    return { json: write(unexpected(unwritable, call.method, traceIdOf(call))), status };
  }
}

function statusOf(error: Error & { readonly code: number }): number {
  // 2026-07-28 fixes the status of these two (basic/transports/streamable-http).
  if (error instanceof HeaderMismatchError || error.code === MISSING_CAPABILITY) return 400;
  // The SDK answers unknown methods with this status.
  if (error instanceof UnknownMethodError) return 404;
  return error instanceof UnavailableException && !error.hasRun ? 503 : 200;
}
