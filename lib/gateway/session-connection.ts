import { randomUUID } from 'node:crypto';
import type { LoggingLevel } from '@modelcontextprotocol/server';
import { type ChangeNotifier, notifierOver } from '../protocol/changes.js';
import type { Params, ClientChannel } from '../protocol/mcp-call.js';
import type { BackendConnection } from './backend-connection.js';

const LIST_CHANGED = {
  'notifications/tools/list_changed': 'toolsChanged',
  'notifications/prompts/list_changed': 'promptsChanged',
  'notifications/resources/list_changed': 'resourcesChanged',
} as const;

export const RESOURCE_UPDATED = 'notifications/resources/updated';
export const LIST_CHANGES = Object.keys(LIST_CHANGED);

const isListChange = (method: string): method is keyof typeof LIST_CHANGED =>
  Object.hasOwn(LIST_CHANGED, method);

/** Ignores notifications that are not about a change. */
export function notifyChange(changes: ChangeNotifier, method: string, { uri }: Params): void {
  if (isListChange(method)) changes[LIST_CHANGED[method]]();
  else if (method === RESOURCE_UPDATED && typeof uri === 'string') changes.resourceUpdated(uri);
}

type Tell = (method: string, params: Params) => void;

/** Passes on each kind of change at once, and then at most once in each interval, in milliseconds. */
export function paced(tell: Tell, intervalMs: number): Tell {
  /** The kinds that were passed on within the interval, with the latest change that was not. */
  const recent = new Map<string, Params | undefined>();
  const pass: Tell = (method, params) => {
    if (recent.has(method)) return void recent.set(method, params);
    recent.set(method, undefined);
    setTimeout(() => {
      const missed = recent.get(method);
      recent.delete(method);
      if (missed) pass(method, missed);
    }, intervalMs).unref();
    tell(method, params);
  };
  return pass;
}

/** The state that a backend keeps for one 2025-era client. */
export class SessionConnection {
  readonly id = randomUUID();
  level?: LoggingLevel;
  private own?: BackendConnection;
  /** The functions that end the client's subscriptions, by URI. */
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

  /** The client's next request opens another connection. */
  giveUpIfIdle(ms: number): boolean {
    const { own } = this;
    if (!own?.isIdleFor(ms)) return false;
    this.own = undefined;
    own.close().catch(this.report);
    return true;
  }

  notify(method: string, params: Params | undefined): void {
    this.own?.notify(method, params);
  }

  /** Sends a notification of the backend to the client. */
  tell(method: string, params: Params): void {
    if (FORWARDED.has(method)) this.channel.notify(method, params).catch(this.report);
    else notifyChange(notifierOver(this.channel.bus), method, params);
  }

  /** Whether the client has subscribed to a resource. Another node may have asked the backend for it. */
  wants(uri: string): boolean {
    return this.subscribed.has(uri) || this.channel.shared?.subscribed.has(uri) === true;
  }

  async subscribe(uri: string, connection: BackendConnection): Promise<void> {
    // A second request for the same resource waits for the first answer.
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

/** The other notifications are about changes. */
const FORWARDED = new Set(['notifications/message', 'notifications/elicitation/complete']);
