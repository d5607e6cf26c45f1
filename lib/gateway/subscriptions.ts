import type { Client, McpSubscription } from '@modelcontextprotocol/client';
import type { SubscriptionFilter } from '@modelcontextprotocol/server';
import { McpErrorCode, McpException } from '../exceptions/mcp.exception.js';
import type { Link } from './link.js';

/** What one connection is told of by itself: the resources that somebody here wants, and the lists. */
export class Subscriptions {
  /** How many want each resource. */
  private readonly wanted = new Map<string, number>();
  /** What a 2026-era connection listens to, by the resource; the lists under the empty name. */
  private readonly listening = new Map<string, McpSubscription>();
  private lists: SubscriptionFilter = {};
  private isClosed = false;

  /**
   * @param timeoutMs how long a backend may take to agree, in milliseconds
   * @param onRenewed called when something may have been missed
   */
  constructor(
    private readonly link: Pick<Link, 'client' | 'request'>,
    private readonly timeoutMs: number,
    private readonly onRenewed: () => void,
  ) {}

  /** Whether the connection is to be opened again when it breaks. */
  get isWanted(): boolean {
    return !this.isClosed && (this.wanted.size > 0 || Object.keys(this.lists).length > 0);
  }

  /**
   * One more wants a resource. The backend is asked whoever had it before: it may refuse.
   * @throws McpException (-32000) where there are too many; whatever the backend refuses with
   */
  async add(uri: string, signal?: AbortSignal): Promise<void> {
    const before = this.wanted.get(uri) ?? 0;
    if (before === 0 && this.wanted.size >= MAX_RESOURCES) {
      throw new McpException(McpErrorCode.Refused, 'The gateway has too many subscriptions; try again later');
    }
    this.wanted.set(uri, before + 1);
    try {
      const client = await this.link.client(signal);
      if (before === 0 || client.getProtocolEra() === 'legacy') await this.subscribe(client, uri, signal);
    } catch (error) {
      this.remove(uri);
      throw error;
    }
  }

  /** One less wants a resource; after the last one, the backend is told. */
  remove(uri: string): void {
    const left = (this.wanted.get(uri) ?? 0) - 1;
    if (left > 0) return void this.wanted.set(uri, left);
    this.wanted.delete(uri);
    this.unsubscribe(uri).catch(() => undefined);
  }

  /** Wants to be told when lists change, from now on. */
  listenToLists(client: Client): void {
    const { tools, prompts, resources } = client.getServerCapabilities() ?? {};
    this.lists =
      client.getProtocolEra() === 'modern'
        ? {
            ...(tools?.listChanged && { toolsListChanged: true }),
            ...(prompts?.listChanged && { promptsListChanged: true }),
            ...(resources?.listChanged && { resourcesListChanged: true }),
          }
        : {};
  }

  /** Takes everything up again on a new connection. */
  reopen(client: Client): void {
    this.listening.clear();
    const again = [...this.wanted.keys()].map(uri => this.subscribe(client, uri));
    if (Object.keys(this.lists).length > 0) again.push(this.listen(client, '', this.lists));
    // What a backend refuses now it had granted before; it stays wanted, for the next time.
    for (const one of again) one.catch(() => undefined);
  }

  close(): void {
    this.isClosed = true;
  }

  private async subscribe(client: Client, uri: string, signal?: AbortSignal): Promise<void> {
    if (client.getProtocolEra() === 'modern')
      return this.listen(client, uri, { resourceSubscriptions: [uri] });
    await this.link.request('resources/subscribe', { uri }, { signal });
  }

  private async unsubscribe(uri: string): Promise<void> {
    const listening = this.listening.get(uri);
    this.listening.delete(uri);
    if (listening) return listening.close();
    const client = await this.link.client();
    if (client.getProtocolEra() === 'legacy') await this.link.request('resources/unsubscribe', { uri }, {});
  }

  private async listen(client: Client, key: string, filter: SubscriptionFilter): Promise<void> {
    const subscription = await client.listen(filter, { timeout: this.timeoutMs });
    if (this.isClosed || (key !== '' && !this.wanted.has(key))) return subscription.close();
    // A backend that will never tell anything ends it at once.
    if (Object.keys(subscription.honoredFilter).length === 0) return;
    this.listening.set(key, subscription);
    void subscription.closed.then(cause => {
      if (this.listening.get(key) === subscription) this.listening.delete(key);
      if (cause !== 'local') this.listenAgain(client, key, filter);
    });
  }

  /** A stream that ended without anybody's wish means that the backend is gone, or something on the way to it. */
  private listenAgain(
    client: Client,
    key: string,
    filter: SubscriptionFilter,
    delay: number = RETRY_MS[0],
  ): void {
    setTimeout(() => {
      // A connection that broke is opened anew, with everything on it.
      if (this.isClosed || client.transport === undefined) return;
      this.listen(client, key, filter).then(
        () => this.onRenewed(),
        () => this.listenAgain(client, key, filter, Math.min(delay * 2, RETRY_MS[1])),
      );
    }, delay).unref();
  }
}

/** The most resources that are subscribed to on one connection. */
const MAX_RESOURCES = 1000;

/** The first and the longest wait before something that ended is tried again, in milliseconds. */
export const RETRY_MS = [250, 30_000] as const;
