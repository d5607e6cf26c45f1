import { isJSONRPCRequest, type JSONRPCRequest } from '@modelcontextprotocol/server';
import { isPlain, isRecord } from '../util/is-record.js';
import type { Params } from './mcp-call.js';

// The SDK's schemas take microseconds, and kilobytes, for each message. Here the most common messages are recognized at
// once. Only other messages need a schema.

/** Whether a value is a JSON-RPC request. */
export function isRequest(value: unknown): value is JSONRPCRequest {
  if (!isRecord(value)) return false;
  const { jsonrpc, id, method, params } = value;
  const meta = isRecord(params) ? params['_meta'] : null;
  const isCommon =
    jsonrpc === '2.0' &&
    (typeof id === 'string' || Number.isSafeInteger(id)) &&
    typeof method === 'string' &&
    (meta === undefined ||
      (isRecord(meta) && !('progressToken' in meta) && !('io.modelcontextprotocol/related-task' in meta))) &&
    hasFields(value, 4);
  return isCommon || isJSONRPCRequest(value);
}

/** Whether the params of a `tools/call` are valid in both eras. Others may be valid, too. */
export const isPlainCall = ({ name, arguments: args, _meta: meta, task }: Params): boolean =>
  typeof name === 'string' &&
  (args === undefined || (isRecord(args) && isPlain(args))) &&
  meta === undefined &&
  task === undefined;

/**
 * Whether a value is a valid `CallToolResult` in both eras. Others may be valid, too. Instances of classes are not
 * recognized, because JSON may write other fields of them than the schema reads.
 */
export function isPlainResult(value: object): boolean {
  const { content, structuredContent } = value as Params;
  const isStructured = structuredContent !== undefined;
  if (!isPlain(value) || !Array.isArray(content)) return false;
  for (const block of content as unknown[]) {
    if (!isRecord(block) || block['type'] !== 'text' || typeof block['text'] !== 'string') return false;
    if (!isPlain(block) || !hasFields(block, 2)) return false;
  }
  if (isStructured && !(isRecord(structuredContent) && isPlain(structuredContent))) return false;
  return hasFields(value, isStructured ? 2 : 1);
}

function hasFields(value: object, expected: number): boolean {
  let count = 0;
  for (const _ in value) count += 1;
  return count === expected;
}

/** Whether two JSON values are equal. For small values, it takes a fraction of the time of `isDeepStrictEqual`. */
export function isSameJson(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false;
  if (Array.isArray(one) !== Array.isArray(other)) return false;
  let count = 0;
  for (const key in one) {
    if (!Object.hasOwn(other, key)) return false;
    if (!isSameJson((one as Params)[key], (other as Params)[key])) return false;
    count += 1;
  }
  for (const _ in other) count -= 1;
  return count === 0;
}
