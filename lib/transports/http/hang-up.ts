import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** The responses of a connection that wait for an earlier one to be answered. */
const QUEUED = new WeakMap<Socket, Set<ServerResponse>>();

/** Whether nobody waits for a response any more. */
export const isGone = ({ socket }: IncomingMessage, response: ServerResponse): boolean =>
  response.destroyed || socket.destroyed;

/**
 * Closes a response as its client hangs up. Node does so for the response that has the connection, and forgets those that
 * are queued behind it (pipelining).
 */
export function closeWithConnection({ socket }: IncomingMessage, response: ServerResponse): void {
  if (response.socket !== null) return;
  const queued = QUEUED.get(socket) ?? watch(socket);
  queued.add(response);
  response.once('close', () => queued.delete(response));
}

function watch(socket: Socket): Set<ServerResponse> {
  const queued = new Set<ServerResponse>();
  QUEUED.set(socket, queued);
  socket.once('close', () => {
    for (const response of queued) {
      if (response.socket !== null) continue;
      response.destroy();
      response.emit('close');
    }
  });
  return queued;
}
