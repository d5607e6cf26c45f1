import { setTimeout as pause } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import type { RedisClientType } from 'redis';

export interface RedisConnectionOptions {
  /** Prefix of all keys. */
  readonly prefix: string;
  readonly connectTimeoutMs: number;
  readonly commandTimeoutMs: number;
}

interface Subscription {
  readonly channel: string;
  readonly listener: (text: string) => void;
}

/** Redis cannot be asked now. The connection has logged why. */
export class RedisUnavailable extends Error {}

/** The pause before another attempt, in milliseconds: it doubles. */
const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 2000;

/** How often the connection is tried, in milliseconds. */
const PING_MS = 5000;

/** The most commands that wait for an answer. */
export const MAX_COMMANDS = 10_000;

/**
 * The connection of a node to Redis, for commands and for messages. While Redis is gone, commands fail at once, and the
 * connection tries again for as long as it is open.
 */
export class RedisConnection {
  private readonly logger = new Logger('McpRedis');
  private readonly closing = new AbortController();
  private readonly subscriptions = new Set<Subscription>();
  private kept?: Promise<void>;
  private client?: RedisClientType;
  private giveUp: (error: Error) => void = () => undefined;
  private isLost = false;

  /** @param create makes a client that does not connect again by itself */
  constructor(
    private readonly create: () => RedisClientType,
    private readonly options: RedisConnectionOptions,
  ) {}

  /** Waits for the first attempt, whether or not it succeeds. */
  async open(): Promise<void> {
    await new Promise<void>(resolve => {
      this.kept = this.keep(resolve);
    });
  }

  /** The client, for commands that are sent at once. @throws RedisUnavailable */
  get ready(): RedisClientType {
    if (!this.client) throw new RedisUnavailable('there is no connection to Redis');
    return this.client;
  }

  /**
   * Sends commands.
   * @throws RedisUnavailable while Redis is gone, or if it does not answer in time; errors of Redis
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
   * @returns a function that stops listening
   */
  async subscribe(channel: string, listener: (text: string) => void): Promise<() => Promise<void>> {
    const subscription = { channel, listener: (text: string) => listener(text) };
    this.subscriptions.add(subscription);
    await this.unlessGone(client => client.subscribe(channel, subscription.listener));
    return async () => {
      this.subscriptions.delete(subscription);
      await this.unlessGone(client => client.unsubscribe(channel, subscription.listener));
    };
  }

  /** Lets running commands end, within their time, and closes the connection. */
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
      // The next connection is told what to listen to.
      if (!(error instanceof RedisUnavailable)) throw error;
    }
  }

  /** Connects, again and again, until the application closes. */
  private async keep(tried: () => void): Promise<void> {
    const { signal } = this.closing;
    // A connection that only listens would not notice that the other end is gone.
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
        // Redis alone does not keep a process.
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
    // Changes nothing, but fails where nothing can be written.
    await client.del(`${this.options.prefix}probe`);
    this.client = client;
    // A subscription that comes meanwhile is made twice, to no effect.
    await Promise.all(
      [...this.subscriptions].map(({ channel, listener }) => client.subscribe(channel, listener)),
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
      `Redis is not available (${reasonOf(error)}). Until it is back, calls that need it are refused, and changes on other nodes are missed`,
    );
  }
}

/** Later commands would wait behind an unanswered one; after a failover, a connection may lead to a replica. */
const endsConnection = (error: unknown): error is Error =>
  error instanceof RedisUnavailable || (error instanceof Error && error.message.startsWith('READONLY'));

async function within<T>(timeoutMs: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const refuse = () => reject(new RedisUnavailable(`Redis did not answer within ${timeoutMs} ms`));
    timer = setTimeout(refuse, timeoutMs);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** An error of several addresses has a code, but no message. */
const reasonOf = ({ message, code }: NodeJS.ErrnoException): string => code ?? message.slice(0, 200);
