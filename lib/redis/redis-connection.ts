import { setTimeout as pause } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import type { RedisClientType } from 'redis';
import { probe } from './probe.js';

export interface RedisConnectionOptions {
  /** Prefix of all keys. */
  readonly prefix: string;
  readonly connectTimeoutMs: number;
  readonly commandTimeoutMs: number;
}

interface Subscription {
  readonly channel: string;
  readonly listener: (text: string) => void;
  readonly onRestored?: () => void;
}

/** Redis is not available now. The connection has logged the reason. */
export class RedisUnavailable extends Error {}

/** Delays between attempts to connect, in milliseconds; the delay doubles. */
const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 2000;

/** Interval of the connection check, in milliseconds. */
const PING_MS = 5000;

/** Maximum commands that wait for an answer. */
export const MAX_COMMANDS = 10_000;

/**
 * A node's connection to Redis, for commands and messages. While Redis is not available, commands fail at once, and the
 * open connection keeps trying to reconnect.
 */
export class RedisConnection {
  private readonly logger = new Logger('McpRedis');
  private readonly closing = new AbortController();
  private readonly subscriptions = new Set<Subscription>();
  private kept?: Promise<void>;
  private client?: RedisClientType;
  private giveUp: (error: Error) => void = () => undefined;
  private isLost = false;

  /** @param create creates a client that does not reconnect by itself */
  constructor(
    private readonly create: () => RedisClientType,
    private readonly options: RedisConnectionOptions,
  ) {}

  /** Waits for the first attempt to connect, successful or not. */
  async open(): Promise<void> {
    await new Promise<void>(resolve => {
      this.kept = this.keep(resolve);
    });
  }

  /** The client for commands that are sent at once. @throws RedisUnavailable */
  get ready(): RedisClientType {
    if (!this.client) throw new RedisUnavailable('the connection to Redis is not open');
    return this.client;
  }

  /**
   * Sends commands.
   * @throws RedisUnavailable while Redis is not available or does not answer in time; errors of Redis
   */
  async run<T>(work: (client: RedisClientType) => Promise<T>): Promise<T> {
    const client = this.ready;
    try {
      return await within(this.options.commandTimeoutMs, work(client));
    } catch (error) {
      if (error instanceof Error && !client.isReady) throw new RedisUnavailable('the connection was lost');
      if (endsConnection(error) && client === this.client) this.giveUp(error);
      throw error;
    }
  }

  /**
   * Listens to a channel, also after reconnecting.
   * @param onRestored called after reconnecting, because messages may have been missed
   * @returns a function that stops listening
   */
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

  /** Waits for running commands, up to their timeout, and closes the connection. */
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
      const client = this.create();
      const lost = new Promise<never>((_, reject) => {
        this.giveUp = reject;
        client.on('error', reject);
        client.on('end', () => reject(new Error('the connection was closed')));
      });
      try {
        await Promise.race([within(this.options.connectTimeoutMs, this.connect(client)), lost]);
        this.succeeded();
        pauseMs = FIRST_PAUSE_MS;
        // The connection to Redis must not keep the process running.
        client.unref();
        tried();
        await lost;
      } catch (error) {
        if (!signal.aborted) this.failed(error as Error);
      }
      this.client = undefined;
      client.destroy();
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

  private succeeded(): void {
    this.logger.log(this.isLost ? 'Redis is available again' : 'Connected to Redis');
    this.isLost = false;
  }

  private failed(error: Error): void {
    if (this.isLost) return;
    this.isLost = true;
    this.logger.warn(
      `Redis is not available (${reasonOf(error)}). Until it is available again, the server refuses calls that need it and misses changes on other nodes`,
    );
  }
}

/**
 * Closes the connection because later commands would wait behind an unanswered one, or because a failover left it on a
 * replica.
 */
const endsConnection = (error: unknown): error is Error =>
  error instanceof RedisUnavailable || (error instanceof Error && error.message.startsWith('READONLY'));

/** In how many parts a deadline is counted. */
const PARTS = 10;

/** A part in which the node is blocked counts once, because Redis may have answered in the meantime. */
async function within<T>(timeoutMs: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const refuse = () => reject(new RedisUnavailable(`Redis did not answer within ${timeoutMs} ms`));
    let parts = 0;
    timer = setInterval(() => {
      parts += 1;
      // Before it runs, Node reads what has arrived.
      if (parts === PARTS) setImmediate(refuse);
    }, timeoutMs / PARTS);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearInterval(timer);
  }
}

/** An error about several addresses has a code but no message. */
const reasonOf = ({ message, code }: NodeJS.ErrnoException): string => code ?? message.slice(0, 200);

/** What is kept in Redis, under the prefix of the application. */
export abstract class RedisKeys {
  constructor(
    protected readonly redis: RedisConnection,
    private readonly prefix: string,
  ) {}

  protected keyOf(kind: string, id: string): string {
    return `${this.prefix}${kind}:${id}`;
  }
}
