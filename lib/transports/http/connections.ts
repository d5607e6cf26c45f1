import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Server, Socket } from 'node:net';

/** How often connections are looked at while their server closes, in milliseconds. */
const CHECK_MS = 50;

/** How long a request may stall on its way while the server closes, in milliseconds. */
const STALLED_MS = 500;

/** What is known of one client's connection. */
interface Connection {
  /** The TCP connection and, with TLS, what runs over it. */
  readonly sockets: Set<Socket>;
  /** Requests that are not answered yet. */
  readonly requests: Set<IncomingMessage>;
  /** How much had come when it was last seen to have grown, and when that was. */
  bytes: number;
  grownAt: number;
}

const KNOWN = new WeakMap<Server, Connections>();

/**
 * The connections of an application's HTTP server. Node's `close()` waits for connections that have sent nothing, or half a
 * request, for as long as their clients like. Here, those end with the shutdown; a request that another route answers does
 * not.
 */
export class Connections {
  private readonly open = new Map<string | Socket, Connection>();
  /** The same, for sockets of HTTP/1.1: HTTP/2 gives each request a proxy of its socket. */
  private readonly bySocket = new WeakMap<Socket, Connection>();
  private timer?: NodeJS.Timeout;

  /** The connections of a server, which all MCP servers of an application share. */
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
   * Once the server closes, ends every connection on which no request is being answered.
   * @param graceMs how long requests may still be on their way, in milliseconds, if they do not stall
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
    // Until Nest closes the server, other routes may be asked things.
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

/** A client has one for all sockets of its connection; those of a Unix domain socket have no port. */
const keyOf = (socket: Socket): string | Socket =>
  socket.remotePort === undefined ? socket : `${socket.remoteAddress} ${socket.remotePort}`;

function isNeeded(connection: Connection, deadline: number): boolean {
  const requests = [...connection.requests];
  // One that has come, or of which the application has something to read: it is the application that takes its time.
  if (requests.some(request => request.complete || request.readableLength > 0)) return true;
  const now = performance.now();
  if (requests.length === 0 || now > deadline) return false;
  const bytes = [...connection.sockets].reduce((sum, { bytesRead }) => sum + bytesRead, 0);
  if (bytes > connection.bytes) Object.assign(connection, { bytes, grownAt: now });
  return now - connection.grownAt < STALLED_MS;
}

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
