import {
  type Client,
  StreamableHTTPClientTransport,
  type AuthProvider,
  type OAuthClientProvider,
  type Transport,
} from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { AnswerWatchingTransport } from './answer-watch.js';
import { boundedFetch } from './bounded-fetch.js';
import { problemOfHeaders, type ConnectionOptions } from './connection-options.js';
import { MirroringClient } from './known-tools/mirroring-client.js';
import type { ToolDefinitions } from './known-tools/tool-definitions.js';
import { OutputSchemas } from './output-schemas.js';
import { unlessAborted } from './unless-aborted.js';

/** There is no connection, and why; the cause is the error of the last attempt. */
export class ConnectionError extends Error {}

export interface ConnectionHooks {
  /** OAuth, or where bearer tokens come from, for HTTP. */
  readonly auth?: AuthProvider | OAuthClientProvider;
  /** The definitions of the server's tools, for all connections; by default none are kept. */
  readonly tools?: ToolDefinitions;
  /** Checks results of tools by their output schemas. Default: a check that logs nothing. */
  readonly outputSchemas?: OutputSchemas;
  /** Called with each new client before it connects: the place for its handlers. */
  readonly onClient?: (client: Client) => void;
  /** Called once a client has connected. */
  readonly onOpen?: (client: Client) => void;
}

const DEFAULTS = {
  connectTimeoutMs: 10_000,
  reconnectDelayMs: 100,
  maxReconnectDelayMs: 30_000,
  maxResponseBytes: 8 * 1024 * 1024,
} as const;

/**
 * A connection to one server, which is opened when it is first needed, shared by all callers, and opened anew once it
 * broke. After a failed attempt there is none for a while, which doubles with every failure: callers are told at once.
 */
export class Connection {
  private readonly options: ConnectionOptions & typeof DEFAULTS;
  private opening?: Promise<Client>;
  /** What is being opened, so that it can be given up. */
  private transportInOpening?: Transport;
  private open?: Client;
  /** How many use a client. One that is replaced is closed once nobody does. */
  private readonly users = new Map<Client, number>();
  private failures = 0;
  private retryAt = 0;
  private lastError?: unknown;
  private readonly closing = new AbortController();

  constructor(
    readonly name: string,
    options: ConnectionOptions,
    private readonly hooks: ConnectionHooks = {},
  ) {
    this.options = { ...DEFAULTS, ...options } as typeof this.options;
    const ways = [options.url, options.command, options.transport].filter(way => way !== undefined);
    if (ways.length !== 1) {
      throw new Error(`The connection "${name}" needs one of "url", "command" and "transport"`);
    }
  }

  /** Whether it waits before it is tried to open it again. */
  get isDown(): boolean {
    return Date.now() < this.retryAt;
  }

  /**
   * The connected client.
   * @param signal gives up waiting; the attempt itself goes on, for the others who wait for it
   * @throws ConnectionError where it could not be opened, or is closed for good
   */
  async client(signal?: AbortSignal): Promise<Client> {
    signal?.throwIfAborted();
    if (this.open) return this.open;
    if (this.isClosed) throw this.closedForGood();
    if (!this.opening) {
      if (this.isDown) throw this.failure('is down');
      this.opening = this.connect().finally(() => (this.opening = undefined));
      // Whoever waits is told; with nobody left to wait, nobody needs to be.
      this.opening.catch(() => undefined);
    }
    return signal ? unlessAborted(this.opening, signal) : this.opening;
  }

  /**
   * Uses the client. A session that the server no longer knows is opened anew, and what was asked is asked once more:
   * the server has not looked at it.
   */
  async use<T>(work: (client: Client) => Promise<T>, signal?: AbortSignal): Promise<T> {
    const client = await this.client(signal);
    const hasSession = client.transport?.sessionId !== undefined;
    try {
      return await this.counted(client, work);
    } catch (error) {
      if (!hasSession || !isNotFound(error)) throw error;
      if (this.open === client) this.open = undefined;
      await this.closeUnused(client);
      return this.counted(await this.client(signal), work);
    }
  }

  /** Closes the connection for good, whoever uses it or waits for it. */
  async close(): Promise<void> {
    this.closing.abort();
    // What waits for an answer of the server would wait on.
    await this.transportInOpening?.close().catch(() => undefined);
    await this.opening?.catch(() => undefined);
    const clients = new Set(this.users.keys());
    const { open } = this;
    this.open = undefined;
    if (open) {
      await endSession(open);
      clients.add(open);
    }
    await Promise.all([...clients].map(client => client.close().catch(() => undefined)));
  }

  private async counted<T>(client: Client, work: (client: Client) => Promise<T>): Promise<T> {
    this.users.set(client, (this.users.get(client) ?? 0) + 1);
    try {
      return await work(client);
    } finally {
      const others = this.users.get(client)! - 1;
      if (others > 0) this.users.set(client, others);
      else this.users.delete(client);
      if (this.open !== client) await this.closeUnused(client);
    }
  }

  private async closeUnused(client: Client): Promise<void> {
    if (!this.users.has(client)) await client.close().catch(() => undefined);
  }

  private async connect(): Promise<Client> {
    const { era = 'auto', capabilities = {}, connectTimeoutMs } = this.options;
    const mode = era === 'modern' ? { pin: '2026-07-28' } : era;
    const client = new MirroringClient(
      { name: 'nestjs-mcp', version: '0.1.0' },
      {
        capabilities,
        versionNegotiation: { mode },
        jsonSchemaValidator: this.hooks.outputSchemas ?? new OutputSchemas(),
      },
      this.hooks.tools,
    );
    this.hooks.onClient?.(client);
    client.onclose = () => {
      if (this.open === client) this.open = undefined;
    };
    try {
      const transport = await unlessAborted(this.transport(), this.closing.signal);
      this.transportInOpening = transport;
      await client.connect(transport, { timeout: connectTimeoutMs });
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
    this.failures = 0;
    if (this.isClosed) {
      await client.close().catch(() => undefined);
      throw this.closedForGood();
    }
    this.open = client;
    this.hooks.onOpen?.(client);
    return client;
  }

  private async transport(): Promise<Transport> {
    const { url, command, transport, headers = {}, maxResponseBytes } = this.options;
    if (transport) return transport();
    if (url !== undefined) {
      const endpoint = new URL(url);
      const headersOf = async () => {
        const made = typeof headers === 'function' ? await headers() : headers;
        const problem = problemOfHeaders(made);
        if (problem !== undefined) throw new Error(`"headers" ${problem}`);
        return made;
      };
      return new AnswerWatchingTransport(endpoint, {
        fetch: boundedFetch({ maxBytes: maxResponseBytes, endpoint, headersOf }),
        ...(this.hooks.auth && { authProvider: this.hooks.auth }),
      });
    }
    const { args, env, cwd, stderr } = this.options;
    return new StdioClientTransport({
      command: command!,
      maxBufferSize: maxResponseBytes,
      ...(args && { args }),
      ...(env && { env }),
      ...(cwd !== undefined && { cwd }),
      ...(stderr && { stderr }),
    });
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

/** How a server answers that it does not know a 2025-era session; without a session, it says something else. */
const isNotFound = (error: unknown): boolean =>
  error instanceof Error && (error as Partial<{ status: number }>).status === 404;

/** How long a server may take to acknowledge the end of a session, in milliseconds. */
const END_OF_SESSION_MS = 1000;

/** Tells the server that the session is over, so that it need not keep it; whether it answers does not matter. */
async function endSession({ transport }: Client): Promise<void> {
  if (!(transport instanceof StreamableHTTPClientTransport) || transport.sessionId === undefined) return;
  const ended = transport.terminateSession();
  await unlessAborted(ended, AbortSignal.timeout(END_OF_SESSION_MS)).catch(() => undefined);
}
