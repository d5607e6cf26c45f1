import {
  Client,
  StreamableHTTPClientTransport,
  type OAuthClientProvider,
  type Transport,
} from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { boundedFetch } from './bounded-fetch.js';
import type { ConnectionOptions } from './connection-options.js';

/** There is no connection, and why; the cause is the error of the last attempt. */
export class ConnectionError extends Error {}

export interface ConnectionHooks {
  /** OAuth, for HTTP. */
  readonly auth?: OAuthClientProvider;
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
  private open?: Client;
  private failures = 0;
  private retryAt = 0;
  private lastError?: unknown;
  private isClosed = false;

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

  /**
   * The connected client.
   * @param signal gives up waiting; the attempt itself goes on, for the others who wait for it
   * @throws ConnectionError where it could not be opened, or is closed for good
   */
  async client(signal?: AbortSignal): Promise<Client> {
    signal?.throwIfAborted();
    if (this.open) return this.open;
    if (this.isClosed) throw new ConnectionError(`The connection "${this.name}" is closed`);
    if (!this.opening) {
      if (Date.now() < this.retryAt) throw this.failure('is down');
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
    try {
      return await work(client);
    } catch (error) {
      if (!isUnknownSession(error)) throw error;
      await this.drop(client);
      return work(await this.client(signal));
    }
  }

  /** Closes the connection for good. */
  async close(): Promise<void> {
    this.isClosed = true;
    const client = this.open ?? (await this.opening?.catch(() => undefined));
    if (client) await this.drop(client);
  }

  private async drop(client: Client): Promise<void> {
    if (this.open === client) this.open = undefined;
    await client.close().catch(() => undefined);
  }

  private async connect(): Promise<Client> {
    const { era = 'auto', capabilities = {}, connectTimeoutMs } = this.options;
    const mode = era === 'modern' ? { pin: '2026-07-28' } : era;
    const client = new Client(
      { name: 'nestjs-mcp', version: '0.1.0' },
      { capabilities, versionNegotiation: { mode } },
    );
    this.hooks.onClient?.(client);
    client.onclose = () => {
      if (this.open === client) this.open = undefined;
    };
    try {
      await client.connect(await this.transport(), { timeout: connectTimeoutMs });
    } catch (error) {
      await client.close().catch(() => undefined);
      this.lastError = error;
      const { reconnectDelayMs, maxReconnectDelayMs } = this.options;
      this.retryAt = Date.now() + Math.min(reconnectDelayMs * 2 ** this.failures++, maxReconnectDelayMs);
      throw this.failure('could not be opened');
    }
    this.failures = 0;
    if (this.isClosed) {
      await client.close().catch(() => undefined);
      throw new ConnectionError(`The connection "${this.name}" is closed`);
    }
    this.open = client;
    this.hooks.onOpen?.(client);
    return client;
  }

  private async transport(): Promise<Transport> {
    const { url, command, transport, headers = {}, maxResponseBytes } = this.options;
    if (transport) return transport();
    if (url !== undefined) {
      const headersOf = typeof headers === 'function' ? headers : () => headers;
      return new StreamableHTTPClientTransport(new URL(url), {
        fetch: boundedFetch(maxResponseBytes, headersOf),
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

  private failure(what: string): ConnectionError {
    const reason = this.lastError instanceof Error ? this.lastError.message : String(this.lastError);
    return new ConnectionError(`The connection "${this.name}" ${what}: ${reason}`, { cause: this.lastError });
  }
}

/** A 2025-era session that the server has ended is answered with HTTP 404. */
const isUnknownSession = (error: unknown): boolean =>
  error instanceof Error && (error as Partial<{ status: number }>).status === 404;

/** What a promise comes to, unless the signal fires first; the promise itself goes on. */
export async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  let onAbort!: () => void;
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(signal.reason as Error);
    signal.addEventListener('abort', onAbort, { once: true });
  });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
