import { setTimeout as pause } from 'node:timers/promises';
import type { RedisClientType } from 'redis';
import { probe } from './probe.js';
import {
  RedisUnavailable,
  within,
  type RedisConnectionOptions,
  type RedisLink,
  type Subscription,
} from './redis-link.js';
import { RedisLog } from './redis-log.js';

/** Delays between attempts to connect, in milliseconds; the delay doubles. */
const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 2000;

/** Interval of the connection check, in milliseconds. */
const PING_MS = 5000;

/** A node's connection to one Redis, for commands and messages. */
export class RedisConnection implements RedisLink {
  readonly publishing = 'PUBLISH';
  private readonly log = new RedisLog();
  private readonly closing = new AbortController();
  private readonly subscriptions = new Set<Subscription>();
  private kept?: Promise<void>;
  private client?: RedisClientType;
  private giveUp: (error: Error) => void = () => undefined;

  /** @param create creates a client that does not reconnect by itself, for each attempt to connect */
  constructor(
    private readonly create: () => Promise<RedisClientType>,
    private readonly options: RedisConnectionOptions,
  ) {}

  async open(): Promise<void> {
    await new Promise<void>(resolve => {
      this.kept = this.keep(resolve);
    });
  }

  get ready(): RedisClientType {
    if (!this.client) throw new RedisUnavailable('the connection to Redis is not open');
    return this.client;
  }

  async run<T>(work: (client: RedisClientType) => Promise<T>): Promise<T> {
    const client = this.ready;
    try {
      return await within(this.options.commandTimeoutMs, work(client));
    } catch (error) {
      if (error instanceof Error && !client.isReady) throw new RedisUnavailable('the connection was lost');
      if (!endsConnection(error)) throw error;
      if (client === this.client) this.giveUp(error);
      throw error instanceof RedisUnavailable ? error : new RedisUnavailable(error.message, { cause: error });
    }
  }

  async subscribe(
    channel: string,
    listener: (text: string) => void,
    onRestored?: () => void,
  ): Promise<() => Promise<void>> {
    const subscription = { channel, listener: (text: string) => listener(text), onRestored };
    this.subscriptions.add(subscription);
    await this.unlessGone(client => client.subscribe(channel, subscription.listener));
    return async () => {
      this.subscriptions.delete(subscription);
      await this.unlessGone(client => client.unsubscribe(channel, subscription.listener));
    };
  }

  async close(): Promise<void> {
    this.closing.abort();
    await this.unlessGone(client => client.close());
    this.giveUp(new RedisUnavailable('the application closes'));
    await this.kept;
  }

  private async unlessGone(work: (client: RedisClientType) => Promise<unknown>): Promise<void> {
    try {
      if (this.client) await this.run(work);
    } catch (error) {
      // The next connection subscribes again.
      if (!(error instanceof RedisUnavailable)) throw error;
    }
  }

  /** Keeps the connection open: it reconnects until the application closes. */
  private async keep(tried: () => void): Promise<void> {
    const { signal } = this.closing;
    // A connection that only listens would not notice that the other end has gone.
    const ping = () => void this.run(client => client.ping()).catch(() => undefined);
    const pinging = setInterval(ping, PING_MS).unref();
    for (let pauseMs = FIRST_PAUSE_MS; !signal.aborted; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
      let client: RedisClientType | undefined;
      try {
        client = await this.create();
        const lost = this.lossOf(client);
        await Promise.race([within(this.options.connectTimeoutMs, this.connect(client)), lost]);
        this.log.succeeded();
        pauseMs = FIRST_PAUSE_MS;
        // The connection to Redis must not keep the process running.
        client.unref();
        tried();
        await lost;
      } catch (error) {
        if (!signal.aborted) this.log.failed(error as Error);
      }
      this.client = undefined;
      client?.destroy();
      tried();
      await pause(pauseMs, undefined, { signal, ref: false }).catch(() => undefined);
    }
    clearInterval(pinging);
  }

  private async connect(client: RedisClientType): Promise<void> {
    await client.connect();
    await probe(client, this.options.prefix);
    this.client = client;
    // A subscription that arrives meanwhile is made twice, without effect.
    await Promise.all(
      [...this.subscriptions].map(async ({ channel, listener, onRestored }) => {
        await client.subscribe(channel, listener);
        onRestored?.();
      }),
    );
  }

  /** Rejects when the connection is lost. */
  private lossOf(client: RedisClientType): Promise<never> {
    return new Promise<never>((_, reject) => {
      this.giveUp = reject;
      client.on('error', reject);
      client.on('end', () => reject(new Error('the connection was closed')));
    });
  }
}

/**
 * Closes the connection because later commands would wait behind an unanswered one, or because a failover left it on a
 * replica.
 */
const endsConnection = (error: unknown): error is Error =>
  error instanceof RedisUnavailable || (error instanceof Error && error.message.startsWith('READONLY'));
