import { isJSONRPCRequest } from '@modelcontextprotocol/server';
import type { McpServerInstance } from '../server/mcp-server-instance.js';
import { errorOf, type JsonRpcError } from '../protocol/errors.js';
import { callOf, CANCELLED, type Origin } from './message-call.js';

/**
 * Prepares the handlers for a message, before the SDK creates a server, which cannot wait. Returns the error to answer
 * with, if any.
 */
export async function refusalOfPreparation(
  { handlers }: McpServerInstance,
  message: unknown,
  origin: Origin,
): Promise<JsonRpcError | undefined> {
  if (!handlers.prepare) return undefined;
  try {
    for (const request of [message].flat()) {
      if (!isJSONRPCRequest(request)) continue;
      await handlers.prepare(callOf(request, origin));
    }
    return undefined;
  } catch (error) {
    return origin.signal.aborted ? CANCELLED : errorOf(error, 'A message');
  }
}
