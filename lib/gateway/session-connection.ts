import { randomUUID } from 'node:crypto';
import type { LoggingLevel } from '@modelcontextprotocol/server';
import { notifierOver } from '../protocol/changes.js';
import type { ClientChannel, Params } from '../protocol/mcp-call.js';
import type { BackendConnection } from './backend-connection.js';
import { notifyChange } from './change-notifier.js';

/** What a backend holds for one 2025-era client: its subscriptions, and its own connection to a 2025-era backend. */
export class SessionConnection {
  readonly id = randomUUID();
  /** The log level that the client has set. */
  level?: LoggingLevel;
  private own?: BackendConnection;
  /** The client's subscriptions, and the function that ends each. */
  private readonly subscribed = new Map<string, Promise<() => void>>();

  constructor(
    readonly channel: ClientChannel,
    private readonly open: (session: SessionConnection) => BackendConnection,
    private readonly report: (error: Error) => void,
  ) {}

  get isOpen(): boolean {
    return this.own?.isOpen ?? false;
  }

  get hasConnection(): boolean {
    return this.own !== undefined;
  }

  get connection(): BackendConnection {
    return (this.own ??= this.open(this));
  }

  /** Closes a connection that has been idle for so long; the client's next request opens another. */
  giveUpIfIdle(ms: number): boolean {
    const { own } = this;
    if (!own?.isIdleFor(ms)) return false;
    this.own = undefined;
    own.close().catch(this.report);
    return true;
  }

  /** Sends a notification of the client to the backend, if the client has its own connection. */
  notify(method: string, params: Params | undefined): void {
    this.own?.notify(method, params);
  }

  /** Sends a notification of the backend to the client. */
  tell(method: string, params: Params): void {
    if (FORWARDED.has(method)) this.channel.notify(method, params).catch(this.report);
    else notifyChange(notifierOver(this.channel.bus), method, params);
  }

  wants(uri: string): boolean {
    return this.subscribed.has(uri);
  }

  /** @param connection the client's own connection, or a shared one */
  async subscribe(uri: string, connection: BackendConnection): Promise<void> {
    // A second request for the same resource waits for the answer to the first.
    const known = this.subscribed.get(uri) ?? connection.subscriptions.add(uri, this.channel);
    this.subscribed.set(uri, known);
    try {
      await known;
    } catch (error) {
      if (this.subscribed.get(uri) === known) this.subscribed.delete(uri);
      throw error;
    }
  }

  unsubscribe(uri: string): void {
    const subscribed = this.subscribed.get(uri);
    this.subscribed.delete(uri);
    subscribed?.then(end => end()).catch(() => undefined);
  }

  async close(): Promise<void> {
    await this.own?.close();
    for (const uri of this.subscribed.keys()) this.unsubscribe(uri);
  }
}

/** Notifications that are not about a change. */
const FORWARDED = new Set(['notifications/message', 'notifications/elicitation/complete']);
