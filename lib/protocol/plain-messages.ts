import { isJSONRPCRequest, type JSONRPCRequest } from '@modelcontextprotocol/server';
import { isRecord } from '../util/is-record.js';
import type { Params } from './mcp-call.js';

// The SDK's schemas take microseconds, and kilobytes, for each message. Here the most common messages are recognized at
// once. Only other messages need a schema.

/** Whether a value is a JSON-RPC request. */
export const isRequest = (value: unknown): value is JSONRPCRequest =>
  isPlainRequest(value) || isJSONRPCRequest(value);

function isPlainRequest(value: unknown): boolean {
  if (!isRecord(value)) return false;
  const { jsonrpc, id, method, params } = value;
  return (
    jsonrpc === '2.0' &&
    (typeof id === 'string' || Number.isSafeInteger(id)) &&
    typeof method === 'string' &&
    isRecord(params) &&
    isPlainMeta(params['_meta']) &&
    hasFields(value, 4)
  );
}

const isPlainMeta = (meta: unknown): boolean =>
  meta === undefined ||
  (isRecord(meta) && !('progressToken' in meta) && !('io.modelcontextprotocol/related-task' in meta));

/** Whether the params of a `tools/call` are valid in both eras. Others may be valid, too. */
export const isPlainCall = ({ name, arguments: args, _meta: meta, task }: Params): boolean =>
  typeof name === 'string' &&
  (args === undefined || isRecord(args)) &&
  meta === undefined &&
  task === undefined;

/** Whether a value is a valid `CallToolResult` in both eras. Others may be valid, too. */
export function isPlainResult(value: object): boolean {
  const { content, structuredContent } = value as Params;
  const isStructured = structuredContent !== undefined;
  return (
    Array.isArray(content) &&
    content.every(isPlainText) &&
    (!isStructured || isRecord(structuredContent)) &&
    hasFields(value, isStructured ? 2 : 1)
  );
}

const isPlainText = (block: unknown): boolean =>
  isRecord(block) && block['type'] === 'text' && typeof block['text'] === 'string' && hasFields(block, 2);

function hasFields(value: object, expected: number): boolean {
  let count = 0;
  for (const _ in value) count += 1;
  return count === expected;
}
