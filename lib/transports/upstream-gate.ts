import { isJSONRPCRequest } from '@modelcontextprotocol/server';
import type { McpServerHost } from '../server/mcp-server-host.js';
import { CANCELLED, errorOf, exchangeOf, type JsonRpcError, type Origin } from './message-exchange.js';

/**
 * Lets what stands behind a server get ready for a message, before the SDK has a server made for it: that cannot wait
 * for anything. The error, if there is one, is the answer.
 */
export async function refusalOfUpstream(
  { upstream }: McpServerHost,
  message: unknown,
  origin: Origin,
): Promise<JsonRpcError | undefined> {
  if (!upstream) return undefined;
  try {
    for (const request of [message].flat()) {
      if (!isJSONRPCRequest(request)) continue;
      await upstream.prepare(exchangeOf(request, origin));
    }
    return undefined;
  } catch (error) {
    return origin.signal.aborted ? CANCELLED : errorOf(error, 'A message');
  }
}
