import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/server';
import type { McpServerHost } from '../../server/mcp-server-host.js';
import { listenOf, refusalOfListen } from '../listen.js';

/**
 * Puts interceptors in front of `subscriptions/listen`, which `serveStdio` answers by itself. Messages behind a request
 * to listen wait for its decision, so that their order stays.
 */
export function gateListen(transport: Transport, host: McpServerHost): Transport {
  let last: Promise<void> | undefined;
  const closed = new AbortController();
  const gated: Transport = {
    start: async () => {
      transport.onmessage = (message: JSONRPCMessage) => {
        if (last === undefined && listenOf(message) === undefined) return gated.onmessage?.(message);
        const turn: Promise<void> = (last ?? Promise.resolve())
          .then(() => deliver(message))
          .finally(() => {
            if (last === turn) last = undefined;
          });
        last = turn;
      };
      transport.onerror = error => gated.onerror?.(error);
      transport.onclose = () => {
        closed.abort();
        gated.onclose?.();
      };
      await transport.start();
    },
    send: (message, options) => transport.send(message, options),
    close: () => transport.close(),
  };
  return gated;

  async function deliver(message: JSONRPCMessage): Promise<void> {
    const listen = listenOf(message);
    const error = listen && (await refusalOfListen(host, listen, { signal: closed.signal }));
    if (listen && error)
      await transport.send({ jsonrpc: '2.0', id: listen.id, error }).catch(() => undefined);
    else gated.onmessage?.(message);
  }
}
