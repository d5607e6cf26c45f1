import { setMaxListeners } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import type {
  AuthProvider,
  Client,
  OAuthClientProvider,
  StreamableHTTPClientTransport,
  Transport,
} from '@modelcontextprotocol/client';
import type { ResumingTransport } from './answer-watch.js';
import { boundedFetch } from './bounded-fetch.js';
import { directPost } from './direct-post.js';
import { problemOfHeaders, type ConnectionOptions } from './connection-options.js';
import type { Observer } from '../protocol/traffic.js';
import { loadSdkClient } from './sdk-client.js';
import type { TaskAccess } from './client-task.js';
import type { ServerSession, ServerSessionShare } from './server-session.js';
import type { TaskPassingClient } from './task-client.js';
import type { ToolDefinitions } from './tool-definitions.js';
import { outputSchemas } from './output-schemas.js';
import { unlessAborted } from '../util/abort.js';
import { VERSION } from '../util/version.js';

/**
 * The connection could not be opened, or is closed. The message says why; `cause` is the error of the last attempt.
 * @example
 * ```ts
 * await billing.listTools().catch(error => {
 *   if (error instanceof ConnectionError) return undefined; // the server cannot be reached
 *   throw error;
 * });
 * ```
 */
export class ConnectionError extends Error {}

export interface ConnectionHooks {
  readonly auth?: AuthProvider | OAuthClientProvider;
  readonly tools?: ToolDefinitions;
  /** Receives warnings about output schemas of the server. Default: they are not logged. */
  readonly warn?: (message: string) => void;
  /** The observer of the connection's requests, if any. Called for each opening. */
  readonly observer?: (url: string | undefined) => Observer | undefined;
  /** Whether servers may answer calls of tools with tasks (2026-07-28). */
  readonly tasks?: boolean;
  /** The session with a 2025-era server over HTTP, if several nodes use it. */
  readonly session?: ServerSessionShare;
  readonly onClient?: (client: Client) => void;
  readonly onOpen?: (client: TaskPassingClient) => void;
}

const DEFAULTS = {
  connectTimeoutMs: 10_000,
  reconnectDelayMs: 100,
  maxReconnectDelayMs: 30_000,
  maxResponseBytes: 8 * 1024 * 1024,
} as const;

/**
 * A connection that all callers share. It reopens after it broke. After a failed attempt, calls fail at once until a
 * delay has passed.
 */
export class Connection {
  private readonly options: ConnectionOptions & typeof DEFAULTS;
  private opening?: Promise<TaskPassingClient>;
  private transportInOpening?: Transport;
  private open?: TaskPassingClient;
  private readonly users = new Map<TaskPassingClient, number>();
  /** The clients that read what belongs to no call. */
  private readonly listening = new WeakSet<TaskPassingClient>();
  private failures = 0;
  private retryAt = 0;
  private lastError?: unknown;
  private readonly closing = new AbortController();
  private readonly tasks?: TaskAccess;
  private readonly outputSchemas: ReturnType<typeof outputSchemas>;

  constructor(
    readonly name: string,
    options: ConnectionOptions,
    private readonly hooks: ConnectionHooks = {},
  ) {
    this.options = { ...DEFAULTS, ...options } as typeof this.options;
    this.outputSchemas = outputSchemas(hooks.warn);
    // Each task that runs listens to it.
    setMaxListeners(0, this.closing.signal);
    if (hooks.tasks) this.tasks = { use: work => this.use(work), closed: this.closing.signal };
  }

  get isDown(): boolean {
    return Date.now() < this.retryAt;
  }

  /** @throws ConnectionError if it could not be opened, or was closed */
  async client(signal?: AbortSignal): Promise<TaskPassingClient> {
    signal?.throwIfAborted();
    if (this.open) return this.open;
    if (this.isClosed) throw this.closedForGood();
    if (!this.opening) {
      if (this.isDown) throw this.failure('is down');
      this.opening = this.connect().finally(() => (this.opening = undefined));
      // If every caller stopped waiting, the rejection must not count as unhandled.
      this.opening.catch(() => undefined);
    }
    return signal ? unlessAborted(this.opening, signal) : this.opening;
  }

  /**
   * Uses the client. If the server forgot the session (404), it reopens the connection and repeats once: the server did
   * not read the request.
   */
  async use<T>(
    work: (client: TaskPassingClient) => Promise<T>,
    signal?: AbortSignal,
    mayReopen = true,
  ): Promise<T> {
    const client = await this.client(signal);
    const hasSession = client.transport?.sessionId !== undefined;
    this.users.set(client, (this.users.get(client) ?? 0) + 1);
    try {
      return await work(client);
    } catch (error) {
      if (!mayReopen || !hasSession || !isNotFound(error)) throw error;
      if (this.open === client) this.open = undefined;
      await this.hooks.session?.lost(client.transport.sessionId!);
    } finally {
      const others = this.users.get(client)! - 1;
      if (others > 0) this.users.set(client, others);
      else this.users.delete(client);
      if (this.open !== client && others === 0) await client.close().catch(() => undefined);
    }
    return this.use(work, signal, false);
  }

  async close(): Promise<void> {
    this.closing.abort();
    // An opening that waits for the server would not stop by itself.
    await this.transportInOpening?.close().catch(() => undefined);
    await this.opening?.catch(() => undefined);
    const clients = new Set(this.users.keys());
    const { open } = this;
    this.open = undefined;
    if (open) {
      if (this.hooks.session?.isOver !== false) await endSession(open);
      clients.add(open);
    }
    await Promise.all([...clients].map(client => client.close().catch(() => undefined)));
  }

  /** Opens the stream of what belongs to no call, if this node reads it now. */
  async listen(): Promise<void> {
    const client = await this.client();
    const transport = client.transport as Partial<ResumingTransport>;
    if (this.listening.has(client) || !transport.listen) return;
    this.listening.add(client);
    // Some servers have one such stream for a session, and the node before this one may not have left it yet.
    for (
      let delay = LISTEN_MS.first;
      this.open === client && this.hooks.session?.isListening;
      delay = Math.min(delay * 2, LISTEN_MS.most)
    ) {
      const isOpen = await transport.listen().then(
        () => true,
        () => false,
      );
      if (isOpen) return;
      await pause(delay, undefined, { ref: false });
    }
  }

  private async connect(): Promise<TaskPassingClient> {
    const { era = 'auto', capabilities = {}, connectTimeoutMs } = this.options;
    const mode = era === 'modern' ? { pin: '2026-07-28' } : era;
    const observer = this.hooks.observer?.(this.options.url?.toString());
    const { HeaderParameterClient } = await this.sdk();
    const client = new HeaderParameterClient(
      { name: 'nestjs-mcp', version: VERSION },
      {
        capabilities,
        versionNegotiation: { mode },
        jsonSchemaValidator: this.outputSchemas,
      },
      { tools: this.hooks.tools, observer, tasks: this.tasks },
    );
    this.hooks.onClient?.(client);
    const started = performance.now();
    client.onclose = () => {
      if (this.open === client) this.open = undefined;
      observer?.disconnected({
        durationMs: performance.now() - started,
        protocolVersion: client.getNegotiatedProtocolVersion(),
        isHttp: this.options.url !== undefined,
      });
    };
    let isOurs: boolean;
    try {
      isOurs = await this.handshake(client, connectTimeoutMs);
      this.closing.signal.throwIfAborted();
    } catch (error) {
      await client.close().catch(() => undefined);
      if (this.isClosed) throw this.closedForGood();
      this.lastError = error;
      const { reconnectDelayMs, maxReconnectDelayMs } = this.options;
      this.retryAt = Date.now() + Math.min(reconnectDelayMs * 2 ** this.failures++, maxReconnectDelayMs);
      throw this.failure('could not be opened');
    } finally {
      this.transportInOpening = undefined;
    }
    if (!isOurs) {
      await endSession(client);
      await client.close();
      return this.connect();
    }
    this.failures = 0;
    this.open = client;
    this.hooks.onOpen?.(client);
    if (this.hooks.session?.isListening) void this.listen();
    return client;
  }

  /** @returns false if another node has opened a session with the server in the meantime */
  private async handshake(client: TaskPassingClient, timeout: number): Promise<boolean> {
    const { session } = this.hooks;
    const known = await session?.find();
    const transport = await unlessAborted(this.transport(known), this.closing.signal);
    this.transportInOpening = transport;
    await client.connect(transport, { timeout });
    if (known) return true;
    this.listening.add(client);
    const id = client.transport?.sessionId;
    if (!session || id === undefined) return true;
    const result = {
      protocolVersion: client.getNegotiatedProtocolVersion()!,
      capabilities: client.getServerCapabilities()!,
      serverInfo: client.getServerVersion()!,
    };
    return session.offer({ id, result }, client);
  }

  private async transport(resumed: ServerSession | undefined): Promise<Transport> {
    const { url, command, transport, headers = {}, maxResponseBytes } = this.options;
    if (transport) return transport();
    const { AnswerWatchingTransport, StdioClientTransport } = await this.sdk();
    if (url !== undefined) {
      const endpoint = new URL(url);
      const headersOf = async () => {
        const made = typeof headers === 'function' ? await headers() : headers;
        const problem = problemOfHeaders(made);
        if (problem !== undefined) throw new Error(`"headers" ${problem}`);
        return made;
      };
      const { auth } = this.hooks;
      const bounds = { maxBytes: maxResponseBytes, endpoint, headersOf };
      return new AnswerWatchingTransport(endpoint, {
        fetch: boundedFetch(bounds),
        directPost: auth ? undefined : directPost(bounds),
        authProvider: auth,
        resumed,
      });
    }
    const { args, env, cwd, stderr } = this.options;
    return new StdioClientTransport({
      command: command!,
      maxBufferSize: maxResponseBytes,
      args,
      env,
      cwd,
      stderr,
    });
  }

  private sdk() {
    return loadSdkClient(`The connection "${this.name}"`);
  }

  private get isClosed(): boolean {
    return this.closing.signal.aborted;
  }

  private closedForGood(): ConnectionError {
    return new ConnectionError(`The connection "${this.name}" is closed`);
  }

  private failure(what: string): ConnectionError {
    const reason = this.lastError instanceof Error ? this.lastError.message : String(this.lastError);
    return new ConnectionError(`The connection "${this.name}" ${what}: ${reason}`, { cause: this.lastError });
  }
}

/**
 * Whether a server answered that it does not know a 2025-era session. Servers answer this only to requests with a
 * session.
 */
const isNotFound = (error: unknown): boolean =>
  error instanceof Error && (error as Partial<{ status: number }>).status === 404;

/** Shortest and longest delay between two attempts to open a stream, in milliseconds. */
const LISTEN_MS = { first: 100, most: 5000 };

/** Deadline for the server to acknowledge the end of a session, in milliseconds. */
const END_OF_SESSION_MS = 1000;

async function endSession({ transport }: Client): Promise<void> {
  if (transport?.sessionId === undefined || !('terminateSession' in transport)) return;
  const ended = (transport as StreamableHTTPClientTransport).terminateSession();
  await unlessAborted(ended, AbortSignal.timeout(END_OF_SESSION_MS)).catch(() => undefined);
}
