import { isJSONRPCRequest } from '@modelcontextprotocol/server';
import type { McpServerInstance } from '../server/mcp-server-instance.js';
import { errorOf, type JsonRpcError } from '../protocol/errors.js';
import { callOf, CANCELLED, type Origin } from './message-call.js';

/**
 * Prepares a server's backends for a message, before the SDK creates a server, which cannot wait. Returns the error to
 * answer with, if any.
 */
export async function refusalOfUpstream(
  { upstream }: McpServerInstance,
  message: unknown,
  origin: Origin,
): Promise<JsonRpcError | undefined> {
  if (!upstream) return undefined;
  try {
    for (const request of [message].flat()) {
      if (!isJSONRPCRequest(request)) continue;
      await upstream.prepare(callOf(request, origin));
    }
    return undefined;
  } catch (error) {
    return origin.signal.aborted ? CANCELLED : errorOf(error, 'A message');
  }
}
