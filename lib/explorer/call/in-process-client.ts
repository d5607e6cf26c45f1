import { once } from 'node:events';
import { request, type IncomingMessage, type Server } from 'node:http';
import { Server as SecureServer } from 'node:https';
import { duplexPair, type Duplex } from 'node:stream';
import { METHODS } from '../../protocol/methods.js';
import { isRecord } from '../../util/is-record.js';
import { jsonIn } from '../../util/json-in.js';
import { REVISION } from '../../server/wire-codec.js';
import { encodeHeader } from '../../headers/header-value.js';
import { ApiFailure } from '../api-failure.js';

const MAX_BYTES = 8 * 1024 * 1024;

/** How long a session may take to begin or end, in milliseconds. */
const SESSION_MS = 10_000;

const CLIENT = { name: 'nestjs-mcp-explorer', version: '1.0.0' };

/** The page can show forms, pages to visit, and take JSON for the rest. */
export const CAPABILITIES = { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} };

const META = 'io.modelcontextprotocol/';

type Json = Readonly<Record<string, unknown>>;

/** A message of the server, and when it came after the request, in milliseconds. */
export interface Received {
  readonly atMs: number;
  readonly message: Json;
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  /** Notifications before the response. */
  readonly told: readonly Received[];
  /** The JSON-RPC response; undefined for an answer without one, such as that of a proxy. */
  readonly response?: Json;
}

export interface Target {
  readonly server: Server;
  readonly path: string;
  /** The address of the page: a remote operator must not look local. */
  readonly address: string | undefined;
  readonly signal: AbortSignal;
  /** Headers of each request, such as `host` and `authorization`. */
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * A client of an endpoint in this process. Its requests take the way of all requests, from Node's parser on, over streams
 * in memory instead of sockets.
 */
export class InProcessClient {
  /** Called with each message of a stream when it arrives. */
  onMessage: (received: Received) => void = () => undefined;
  private session: Record<string, string> = {};
  private lastId = 0;

  constructor(
    private readonly target: Target,
    private readonly revision: string,
  ) {}

  /**
   * Begins a session for a revision before 2026-07-28.
   * @param capabilities what the client can answer in the session
   * @returns the answer of a server that refuses the session
   */
  async open(capabilities: Json = {}): Promise<Answer | undefined> {
    if (this.isModern) return undefined;
    const params = { protocolVersion: this.revision, capabilities, clientInfo: CLIENT };
    // An answer after the end would leave a session behind.
    const signal = AbortSignal.timeout(SESSION_MS);
    const answer = await this.post({ id: this.lastId++, method: 'initialize', params }, {}, signal);
    const session = answer.headers['mcp-session-id'];
    this.session = {
      'mcp-protocol-version': this.revision,
      ...(typeof session === 'string' && { 'mcp-session-id': session }),
    };
    if (answer.response?.['result'] === undefined) return answer;
    await this.post({ method: 'notifications/initialized' });
    return undefined;
  }

  async close(): Promise<void> {
    if ('mcp-session-id' in this.session) {
      await this.exchange('DELETE', this.session, '', undefined, AbortSignal.timeout(SESSION_MS));
    }
  }

  /**
   * @param headers in addition to the headers that the revision needs
   * @param nameHeader the field of the params that the `Mcp-Name` header repeats
   */
  request(
    method: string,
    params: Json,
    headers: Readonly<Record<string, string>> = {},
    nameHeader: string | undefined = METHODS.get(method)?.names,
  ): Promise<Answer> {
    const id = this.lastId++;
    if (!this.isModern) return this.post({ id, method, params }, headers, this.target.signal);
    const { _meta } = params;
    const name = nameHeader && params[nameHeader];
    const meta = {
      [`${META}protocolVersion`]: this.revision,
      [`${META}clientInfo`]: CLIENT,
      [`${META}clientCapabilities`]: CAPABILITIES,
      ...(_meta as object | undefined),
    };
    return this.post(
      { id, method, params: { ...params, _meta: meta } },
      {
        'mcp-protocol-version': this.revision,
        'mcp-method': method,
        ...(typeof name === 'string' && { 'mcp-name': encodeHeader(name) }),
        ...headers,
      },
    );
  }

  private get isModern(): boolean {
    return this.revision >= REVISION;
  }

  /** Sends a message, such as the answer to a request of the server in a session. */
  async post(
    message: Json,
    headers: Readonly<Record<string, string>> = {},
    signal = this.target.signal,
  ): Promise<Answer> {
    const own = {
      ...this.session,
      ...headers,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    };
    return this.exchange('POST', own, JSON.stringify({ jsonrpc: '2.0', ...message }), message['id'], signal);
  }

  private async exchange(
    method: string,
    headers: Readonly<Record<string, string>>,
    body: string,
    id: unknown,
    signal: AbortSignal,
  ): Promise<Answer> {
    const { server, path, address, headers: shared } = this.target;
    const started = performance.now();
    const sending = request({
      method,
      path,
      signal,
      headers: { ...shared, ...headers, connection: 'close' },
      createConnection: () => connect(server, address),
    });
    sending.end(body);
    const [incoming] = (await once(sending, 'response')) as [IncomingMessage];
    const messages = await read(incoming, started, this.onMessage);
    const response =
      messages.find(({ message }) => message['id'] === id && !('method' in message)) ??
      // A refusal of the transport has no id.
      messages.find(({ message }) => 'error' in message);
    return {
      status: incoming.statusCode ?? 0,
      headers: incoming.headers,
      told: messages.filter(({ message }) => 'method' in message),
      ...(response && { response: response.message }),
    };
  }
}

const nothing = (): void => undefined;

/** Methods of a socket that applications call, and that have no effect in memory. */
const SOCKET = {
  setNoDelay: nothing,
  setKeepAlive: nothing,
  setTimeout: nothing,
  ref: nothing,
  unref: nothing,
};

/** The server's end looks like a connection from that address. */
function connect(server: Server, remoteAddress: string | undefined): Duplex {
  if (typeof (server as Partial<Server>).closeIdleConnections !== 'function') {
    throw new ApiFailure(501, 'Calls need an HTTP/1.1 server');
  }
  const [near, far] = duplexPair();
  // A pair does not do it: the server would never learn that the client left.
  near.once('close', () => far.destroy());
  const isSecure = server instanceof SecureServer;
  Object.assign(far, { remoteAddress, encrypted: isSecure, ...SOCKET });
  server.emit(isSecure ? 'secureConnection' : 'connection', far);
  return near;
}

/** @throws ApiFailure for an answer that is too large */
async function read(
  incoming: IncomingMessage,
  started: number,
  onMessage: (received: Received) => void,
): Promise<Received[]> {
  const isStream = incoming.headers['content-type']?.startsWith('text/event-stream') === true;
  const messages: Received[] = [];
  const take = (text: string) => {
    // A stream also has comments, and a proxy may answer with a page.
    const message = jsonIn(text);
    if (!isRecord(message)) return;
    const received = { atMs: performance.now() - started, message };
    messages.push(received);
    onMessage(received);
  };
  let size = 0;
  let text = '';
  incoming.setEncoding('utf8');
  for await (const chunk of incoming as AsyncIterable<string>) {
    size += chunk.length;
    if (size > MAX_BYTES) throw new ApiFailure(502, `The answer is larger than ${MAX_BYTES} bytes`);
    text += chunk;
    if (!isStream) continue;
    const events = text.split(/\r?\n\r?\n/);
    text = events.pop() ?? '';
    for (const event of events) take(dataOf(event));
  }
  take(isStream ? dataOf(text) : text);
  return messages;
}

const dataOf = (event: string): string =>
  event
    .split(/\r?\n/)
    .filter(line => line.startsWith('data:'))
    .map(line => line.slice(5))
    .join('\n');
