import type { Client, McpSubscription } from '@modelcontextprotocol/client';
import type { Result, SubscriptionFilter } from '@modelcontextprotocol/server';
import { unlessAborted } from '../util/abort.js';
import { McpErrorCode, McpException } from '../exceptions/mcp.exception.js';
import type { Params } from '../protocol/mcp-call.js';
import { RETRY_MS, tooMany } from './limits.js';

/** The backend does not report changes of a resource. Other resources of the same request are still admitted. */
export class NotHonoredError extends McpException {
  constructor(uri: string) {
    super(
      McpErrorCode.Refused,
      `The server behind this gateway does not report changes of ${uri.slice(0, 200)}`,
    );
  }
}

interface SubscribingConnection {
  client(): Promise<Client>;
  request(method: string, params: Params, sending: { readonly signal?: AbortSignal }): Promise<Result>;
}

interface Wanted {
  count: number;
  readonly agreed: Promise<void>;
}

/** One `subscriptions/listen` stream to a 2026-era backend. */
interface Stream {
  /** Undefined for the stream of the lists. */
  readonly uris: Set<string> | undefined;
  subscription?: McpSubscription;
  agreed?: Promise<void>;
}

export class Subscriptions {
  private readonly wanted = new Map<string, Wanted>();
  private readonly streams = new Set<Stream>();
  /** The streams that are about to be opened, by the request's signal. */
  private readonly gathering = new Map<unknown, Stream>();
  private readonly callers = new Map<unknown, number>();
  private lists: SubscriptionFilter = {};
  private isClosed = false;

  /** @param onRenewed called when notifications may have been lost */
  constructor(
    private readonly connection: SubscribingConnection,
    private readonly onRenewed: () => void,
  ) {}

  get isWanted(): boolean {
    return !this.isClosed && (this.wanted.size > 0 || Object.keys(this.lists).length > 0);
  }

  wants(uri: string): boolean {
    return this.wanted.has(uri);
  }

  /**
   * A 2025-era backend is asked for each subscriber, because it may refuse. A 2026-era backend gets one stream for a request.
   * @returns a function that removes the subscriber
   * @throws McpException (-32000) for too many subscriptions, and the backend's refusal
   */
  async add(uri: string, caller: unknown, signal?: AbortSignal): Promise<() => void> {
    const ofCaller = this.callers.get(caller) ?? 0;
    const isFull = !this.wanted.has(uri) && this.wanted.size >= MAX_RESOURCES;
    if (isFull || ofCaller >= MAX_PER_CALLER) throw tooManySubscriptions();
    this.callers.set(caller, ofCaller + 1);
    const known = this.wanted.get(uri);
    const wanted = known ?? { count: 0, agreed: this.ask(uri, signal) };
    wanted.count += 1;
    this.wanted.set(uri, wanted);
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

  /** Takes effect with the next `reopen`. */
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

  reopen(client: Client): void {
    const before = [...this.streams].filter(({ uris }) => uris);
    this.streams.clear();
    const again =
      client.getProtocolEra() === 'modern'
        ? before.map(({ uris }) => this.listen(client, { uris }))
        : [...this.wanted.keys()].map(uri => this.subscribe(uri));
    if (Object.keys(this.lists).length > 0) again.push(this.listen(client, { uris: undefined }));
    // A resource that is refused now is asked for again on the next connection.
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

  /** @throws NotHonoredError if the backend acknowledges other resources only */
  private async ask(uri: string, request: unknown): Promise<void> {
    const client = await this.connection.client();
    if (client.getProtocolEra() === 'legacy') return this.subscribe(uri);
    const stream = this.streamOf(uri) ?? this.gathering.get(request) ?? this.gather(client, request);
    stream.uris!.add(uri);
    await stream.agreed;
    if (this.wanted.has(uri) && !stream.uris!.has(uri)) throw new NotHonoredError(uri);
  }

  /** The stream opens after the request has named all its resources. */
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
    const signal = AbortSignal.timeout(AGREE_MS);
    await this.connection.request('resources/subscribe', { uri }, { signal });
  }

  private async unsubscribe(uri: string): Promise<void> {
    const stream = this.streamOf(uri);
    // The stream goes on for its other resources.
    if (stream) return this.isUseless(stream) ? this.end(stream) : undefined;
    const { connection } = this;
    const isLegacy = (await connection.client()).getProtocolEra() === 'legacy';
    if (isLegacy) await connection.request('resources/unsubscribe', { uri }, {});
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
    if (this.streams.size >= MAX_STREAMS) throw tooManySubscriptions();
    this.streams.add(stream);
    try {
      const { uris } = stream;
      keepOnly(uris, uri => this.wanted.has(uri));
      const filter = uris ? { resourceSubscriptions: [...uris] } : this.lists;
      const subscription = await client.listen(filter, { timeout: AGREE_MS });
      stream.subscription = subscription;
      const { resourceSubscriptions: honored = [] } = subscription.honoredFilter;
      keepOnly(uris, uri => honored.includes(uri));
      if (this.isUseless(stream)) return await this.end(stream);
      // The backend ends a stream without resources or lists.
      if (Object.keys(subscription.honoredFilter).length === 0) return void this.streams.delete(stream);
      void subscription.closed.then(cause => {
        if (cause !== 'local' && this.streams.has(stream)) this.listenAgain(client, stream);
      });
    } catch (error) {
      this.streams.delete(stream);
      throw error;
    }
  }

  /** Opens a stream again that the gateway did not close. */
  private listenAgain(client: Client, stream: Stream, delay: number = RETRY_MS[0]): void {
    stream.subscription = undefined;
    this.streams.add(stream);
    setTimeout(() => {
      // `reopen` is called for a new connection.
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

const tooManySubscriptions = () => tooMany('The gateway has too many subscriptions');

/** How long a backend may take to acknowledge a request, in milliseconds. */
export const AGREE_MS = 10_000;

const MAX_RESOURCES = 10_000;
const MAX_PER_CALLER = 5000;

const MAX_STREAMS = 500;
