import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Server, Socket } from 'node:net';

/** Interval for checking connections while the server closes, in milliseconds. */
const CHECK_MS = 50;

/** How long a request may stall while the server closes, in milliseconds. */
const STALLED_MS = 500;

/** The state of one client's connection. */
interface Connection {
  /** The TCP connection and, with TLS, the TLS connection over it. */
  readonly sockets: Set<Socket>;
  /** Requests without an answer yet. */
  readonly requests: Set<IncomingMessage>;
  /** The number of received bytes at the last observed growth, and the time of that growth. */
  bytes: number;
  grownAt: number;
}

const KNOWN = new WeakMap<Server, Connections>();

/**
 * The connections of an application's HTTP server. Node's `close()` waits without limit for connections that have sent
 * nothing or half a request. This class ends them with the shutdown, except requests that another route answers.
 */
export class Connections {
  private readonly open = new Map<string | Socket, Connection>();
  /** The same for sockets of HTTP/1.1, because HTTP/2 gives each request a proxy of its socket. */
  private readonly bySocket = new WeakMap<Socket, Connection>();
  private timer?: NodeJS.Timeout;

  /** The connections of an HTTP server. All MCP servers of an application share them. */
  static of(server: Server): Connections {
    const known = KNOWN.get(server) ?? new Connections(server);
    KNOWN.set(server, known);
    return known;
  }

  private constructor(private readonly server: Server) {
    server.on('connection', (socket: Socket) => this.add(socket));
    server.on('secureConnection', (socket: Socket) => this.add(socket));
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      const { socket } = request;
      const requests = (this.bySocket.get(socket) ?? this.open.get(keyOf(socket)))?.requests;
      requests?.add(request);
      response.on('close', () => requests?.delete(request));
    });
  }

  /**
   * After the server closes, ends every connection without a request that is being answered.
   * @param graceMs how long a request may take to arrive completely, in milliseconds, if it does not stall
   */
  close(graceMs: number): void {
    if (this.timer) return;
    const deadline = performance.now() + graceMs;
    this.timer = setInterval(() => this.check(deadline), CHECK_MS).unref();
    this.server.once('close', () => clearInterval(this.timer));
  }

  private add(socket: Socket): void {
    const key = keyOf(socket);
    const connection = this.open.get(key) ?? newConnection();
    connection.sockets.add(socket);
    this.open.set(key, connection);
    this.bySocket.set(socket, connection);
    socket.once('close', () => {
      connection.sockets.delete(socket);
      if (connection.sockets.size === 0 && this.open.get(key) === connection) this.open.delete(key);
    });
  }

  private check(deadline: number): void {
    // Until Nest closes the server, other routes may still receive requests.
    if (this.server.listening) return;
    for (const connection of this.open.values()) {
      if (isNeeded(connection, deadline)) continue;
      for (const socket of connection.sockets) socket.destroy();
    }
  }
}

const newConnection = (): Connection => ({
  sockets: new Set(),
  requests: new Set(),
  bytes: -1,
  grownAt: 0,
});

/** The key of a client's connection, the same for all its sockets. Sockets of a Unix domain socket have no port. */
const keyOf = (socket: Socket): string | Socket =>
  socket.remotePort === undefined ? socket : `${socket.remoteAddress} ${socket.remotePort}`;

function isNeeded(connection: Connection, deadline: number): boolean {
  const requests = [...connection.requests];
  // The request is complete, or has unread bytes: the application still works on it.
  if (requests.some(request => request.complete || request.readableLength > 0)) return true;
  const now = performance.now();
  if (requests.length === 0 || now > deadline) return false;
  const bytes = [...connection.sockets].reduce((sum, { bytesRead }) => sum + bytesRead, 0);
  if (bytes > connection.bytes) Object.assign(connection, { bytes, grownAt: now });
  return now - connection.grownAt < STALLED_MS;
}

/** The responses of a connection that wait for an earlier response (pipelining). */
const QUEUED = new WeakMap<Socket, Set<ServerResponse>>();

/** Whether the response is no longer needed. */
export const isGone = ({ socket }: IncomingMessage, response: ServerResponse): boolean =>
  response.destroyed || socket.destroyed;

/**
 * Closes a response when its client disconnects. Node closes only the response that owns the connection, and forgets
 * responses that are queued behind it (pipelining).
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
