import type { LoggingLevel } from '@modelcontextprotocol/server';
import { notifierOver } from '../server/changes.js';
import type { Params } from '../server/dispatcher.js';
import type { ClientChannel } from '../server/upstream.js';
import type { BackendHost } from './backend.js';
import { askable } from './caller-params.js';
import type { GatewayBackend } from './gateway-options.js';
import { BackendConnection, type ConnectionOwner } from './backend-connection.js';
import { isForeign, notifyChange } from './change-notifier.js';

/** What a backend has for one 2025-era client: a connection of its own, where the backend is of that era too. */
export class SessionConnection {
  /** The log level that the client has set. */
  level?: LoggingLevel;
  private own?: BackendConnection;
  /** What the client is subscribed to, and how each of them ends. */
  private readonly subscribed = new Map<string, Promise<() => void>>();

  /** @param onChange called when the backend's lists may show this client something else */
  constructor(
    private readonly channel: ClientChannel,
    private readonly name: string,
    private readonly options: GatewayBackend,
    private readonly host: BackendHost,
    private readonly onChange: () => void,
  ) {}

  get isOpen(): boolean {
    return this.own?.isOpen ?? false;
  }

  get hasConnection(): boolean {
    return this.own !== undefined;
  }

  /** The client's own connection, with its own capabilities. */
  get connection(): BackendConnection {
    return (this.own ??= new BackendConnection(
      this.name,
      { ...this.options, capabilities: askable(this.channel.capabilities), era: 'legacy' },
      this.owner(),
      false,
    ));
  }

  /** Gives up the client's own connection where it has been idle for so long; its next request opens another. */
  giveUpIfIdle(ms: number): boolean {
    const { own } = this;
    if (!own?.isIdleFor(ms)) return false;
    this.own = undefined;
    own.close().catch((error: Error) => this.host.report(error));
    return true;
  }

  /** Tells the backend something, if the client has a connection of its own. */
  notify(method: string, params: Params | undefined): void {
    this.own?.notify(method, params);
  }

  /** @param connection the client's own connection, or one that others use too */
  async subscribe(uri: string, connection: BackendConnection): Promise<void> {
    // Who asks while the backend is being asked waits for the same answer.
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

  private owner(): ConnectionOwner {
    const { channel, host } = this;
    const changes = notifierOver(channel.bus);
    return {
      id: host.id,
      settings: host.settings,
      opened: client => {
        const { level } = this;
        if (level) client.setLoggingLevel(level).catch((error: Error) => host.report(error));
      },
      notified: (method, params, call) => {
        if (method === 'notifications/message' && call) return call.log(params);
        if (HANDED_ON.has(method)) {
          channel.notify(method, params).catch((error: Error) => host.report(error));
        }
        if (method.endsWith('/list_changed')) this.onChange();
        const isOfSeveral = host.settings.backends.length > 1;
        const asked = { wants: (uri: string) => this.subscribed.has(uri) };
        if (!isOfSeveral || !isForeign(method, params, asked)) notifyChange(changes, method, params);
      },
      asked: (method, params, call, options) =>
        call ? call.ask(method, params, options) : channel.request(method, params, options),
      renewed: () => {
        this.onChange();
        for (const kind of ['tools', 'prompts', 'resources']) {
          notifyChange(changes, `notifications/${kind}/list_changed`, {});
        }
      },
      report: error => host.report(error),
    };
  }
}

/** What a backend tells a client that is no change of anything. */
const HANDED_ON = new Set(['notifications/message', 'notifications/elicitation/complete']);
