import type { Client, McpSubscription } from '@modelcontextprotocol/client';
import type { SubscriptionFilter } from '@modelcontextprotocol/server';
import { unlessAborted } from '../client/unless-aborted.js';
import { McpErrorCode, McpException } from '../exceptions/mcp.exception.js';
import { NotHonoredError } from '../server/upstream.js';
import type { BackendConnection } from './backend-connection.js';

/** A resource that somebody here wants. */
interface Wanted {
  /** How many want it. */
  count: number;
  /** Settles once the backend has agreed, or has not. */
  readonly agreed: Promise<void>;
}

/** What a 2026-era connection listens to on one stream. */
interface Stream {
  /** The resources; none where it is for the lists. */
  readonly uris: Set<string> | undefined;
  subscription?: McpSubscription;
  /** Settles once the backend has said what of them it will tell of; no others stay among them. */
  agreed?: Promise<void>;
}

/** What one connection is told of by itself: the resources that somebody here wants, and the lists. */
export class Subscriptions {
  private readonly wanted = new Map<string, Wanted>();
  private readonly streams = new Set<Stream>();
  /** The streams that are about to be opened, by the request that they are for. */
  private readonly gathering = new Map<unknown, Stream>();
  /** How many resources each caller wants. */
  private readonly callers = new Map<unknown, number>();
  private lists: SubscriptionFilter = {};
  private isClosed = false;

  /**
   * @param timeoutMs how long a backend may take to agree, in milliseconds
   * @param onRenewed called when something may have been missed
   */
  constructor(
    private readonly connection: Pick<BackendConnection, 'client' | 'request'>,
    private readonly timeoutMs: number,
    private readonly onRenewed: () => void,
  ) {}

  /** Whether the connection is to be opened again when it breaks. */
  get isWanted(): boolean {
    return !this.isClosed && (this.wanted.size > 0 || Object.keys(this.lists).length > 0);
  }

  /** Whether anybody here wants a resource. */
  wants(uri: string): boolean {
    return this.wanted.has(uri);
  }

  /**
   * One more wants a resource. A 2025-era backend is asked whoever had it before: it may refuse. What is wanted at the
   * same time, of a 2026-era one, on behalf of one request is one stream.
   * @param caller who wants it
   * @param signal of the request that it is for
   * @returns ends that; after the last one, the backend is told
   * @throws McpException (-32000) where there are too many; whatever the backend refuses with
   */
  async add(uri: string, caller: unknown, signal?: AbortSignal): Promise<() => void> {
    const ofCaller = this.callers.get(caller) ?? 0;
    const isFull = !this.wanted.has(uri) && this.wanted.size >= MAX_RESOURCES;
    if (isFull || ofCaller >= MAX_PER_CALLER) {
      throw new McpException(McpErrorCode.Refused, 'The gateway has too many subscriptions; try again later');
    }
    this.callers.set(caller, ofCaller + 1);
    const known = this.wanted.get(uri);
    const wanted = known ?? { count: 0, agreed: this.ask(uri, signal) };
    wanted.count += 1;
    this.wanted.set(uri, wanted);
    // Where all gave up before it was asked, nobody waits for it.
    wanted.agreed.catch(() => undefined);
    let isWanted = true;
    const end = () => {
      if (isWanted) this.remove(uri, wanted, caller);
      isWanted = false;
    };
    try {
      await (signal ? unlessAborted(wanted.agreed, signal) : wanted.agreed);
      if (known) await this.ask(uri, signal);
      return end;
    } catch (error) {
      end();
      throw error;
    }
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
    const before = [...this.streams].filter(({ uris }) => uris);
    this.streams.clear();
    const again =
      client.getProtocolEra() === 'modern'
        ? before.map(({ uris }) => this.listen(client, { uris }))
        : [...this.wanted.keys()].map(uri => this.subscribe(uri));
    if (Object.keys(this.lists).length > 0) again.push(this.listen(client, { uris: undefined }));
    // What a backend refuses now it had granted before; it stays wanted, for the next time.
    for (const one of again) one.catch(() => undefined);
  }

  close(): void {
    this.isClosed = true;
  }

  private remove(uri: string, wanted: Wanted, caller: unknown): void {
    const left = this.callers.get(caller)! - 1;
    if (left > 0) this.callers.set(caller, left);
    else this.callers.delete(caller);
    wanted.count -= 1;
    if (wanted.count > 0) return;
    this.wanted.delete(uri);
    this.unsubscribe(uri).catch(() => undefined);
  }

  /** Asks the backend to tell of a resource, if it does not yet. @throws NotHonoredError where it will not */
  private async ask(uri: string, request: unknown): Promise<void> {
    const client = await this.connection.client();
    if (client.getProtocolEra() === 'legacy') return this.subscribe(uri);
    const stream = this.streamOf(uri) ?? this.gathering.get(request) ?? this.gather(client, request);
    stream.uris!.add(uri);
    await stream.agreed;
    if (this.wanted.has(uri) && !stream.uris!.has(uri)) throw new NotHonoredError(uri);
  }

  /** A stream for what a request wants, once that is known. */
  private gather(client: Client, request: unknown): Stream {
    const stream: Stream = { uris: new Set() };
    stream.agreed = new Promise(resolve => setImmediate(resolve)).then(() => {
      this.gathering.delete(request);
      return this.listen(client, stream);
    });
    this.gathering.set(request, stream);
    return stream;
  }

  private async subscribe(uri: string): Promise<void> {
    await this.connection.request(
      'resources/subscribe',
      { uri },
      { signal: AbortSignal.timeout(this.timeoutMs) },
    );
  }

  private async unsubscribe(uri: string): Promise<void> {
    const stream = this.streamOf(uri);
    // What else is on it goes on; the resource may be wanted again, and is told of until then to nobody.
    if (stream) return this.isUseless(stream) ? this.end(stream) : undefined;
    const client = await this.connection.client();
    if (client.getProtocolEra() === 'legacy')
      await this.connection.request('resources/unsubscribe', { uri }, {});
  }

  private async end(stream: Stream): Promise<void> {
    this.streams.delete(stream);
    await stream.subscription?.close();
  }

  private streamOf(uri: string): Stream | undefined {
    return [...this.streams].find(({ uris }) => uris?.has(uri));
  }

  private isUseless({ uris }: Stream): boolean {
    return this.isClosed || (uris !== undefined && ![...uris].some(uri => this.wanted.has(uri)));
  }

  private async listen(client: Client, stream: Stream): Promise<void> {
    if (this.streams.size >= MAX_STREAMS) {
      throw new McpException(McpErrorCode.Refused, 'The gateway has too many subscriptions; try again later');
    }
    this.streams.add(stream);
    try {
      const { uris } = stream;
      // Whoever wants one of the others again asks for it again.
      keepOnly(uris, uri => this.wanted.has(uri));
      const filter = uris ? { resourceSubscriptions: [...uris] } : this.lists;
      const subscription = await client.listen(filter, { timeout: this.timeoutMs });
      stream.subscription = subscription;
      const { resourceSubscriptions: honored = [] } = subscription.honoredFilter;
      keepOnly(uris, uri => honored.includes(uri));
      if (this.isUseless(stream)) return await this.end(stream);
      // A backend that will never tell anything ends it at once.
      if (Object.keys(subscription.honoredFilter).length === 0) return void this.streams.delete(stream);
      void subscription.closed.then(cause => {
        if (cause !== 'local' && this.streams.has(stream)) this.listenAgain(client, stream);
      });
    } catch (error) {
      this.streams.delete(stream);
      throw error;
    }
  }

  /** A stream that ended without anybody's wish means that the backend is gone, or something on the way to it. */
  private listenAgain(client: Client, stream: Stream, delay: number = RETRY_MS[0]): void {
    stream.subscription = undefined;
    this.streams.add(stream);
    setTimeout(() => {
      // A connection that broke is opened anew, with everything on it.
      if (!this.streams.has(stream) || client.transport === undefined) return;
      if (this.isUseless(stream)) return void this.streams.delete(stream);
      this.streams.delete(stream);
      this.listen(client, stream).then(
        () => this.onRenewed(),
        () => this.listenAgain(client, stream, Math.min(delay * 2, RETRY_MS[1])),
      );
    }, delay).unref();
  }
}

function keepOnly(uris: Set<string> | undefined, isKept: (uri: string) => boolean): void {
  for (const uri of uris ?? []) if (!isKept(uri)) uris!.delete(uri);
}

/** The most resources that are subscribed to on one connection, and how many of them one caller may have. */
const MAX_RESOURCES = 10_000;
const MAX_PER_CALLER = 5000;

/** The most streams of a connection. */
const MAX_STREAMS = 500;

/** The first and the longest wait before something that ended is tried again, in milliseconds. */
export const RETRY_MS = [250, 30_000] as const;
