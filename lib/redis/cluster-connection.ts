import { setTimeout as pause } from 'node:timers/promises';
import type { RedisClusterType } from 'redis';
import { probeCluster } from './probe.js';
import {
  RedisUnavailable,
  within,
  type RedisCommands,
  type RedisConnectionOptions,
  type RedisLink,
  type Subscription,
} from './redis-link.js';
import { RedisLog } from './redis-log.js';

/** Interval of the check of all shards, and the pause between two attempts, in milliseconds. */
const PING_MS = 5000;
const PAUSE_MS = 500;

/** Replies of a shard that cannot serve now. */
const UNABLE = /^(CLUSTERDOWN|MASTERDOWN|LOADING|READONLY|TRYAGAIN) /;

/** The event with which the client asks for new subscriptions, when a shard has another primary. */
const RESUBSCRIBE = '__resubscribeListeners';

/**
 * A node's connection to a Redis Cluster. The package `redis` follows its topology and reconnects to each of its nodes.
 * While one shard is not available, the others work.
 */
export class ClusterConnection implements RedisLink {
  readonly publishing = 'SPUBLISH';
  private readonly log = new RedisLog();
  private readonly closing = new AbortController();
  private readonly subscriptions = new Set<Subscription>();
  private client?: RedisClusterType;
  private kept?: Promise<void>;

  /**
   * @param create creates a client that reconnects by itself
   * @param isReply whether an error is the reply of a Redis
   */
  constructor(
    private readonly create: () => RedisClusterType,
    private readonly isReply: (error: Error) => boolean,
    private readonly options: RedisConnectionOptions,
  ) {}

  async open(): Promise<void> {
    await new Promise<void>(resolve => {
      this.kept = this.keep(resolve);
    });
  }

  get ready(): RedisCommands {
    if (!this.client) throw new RedisUnavailable('the connection to the cluster is not open');
    return this.client as unknown as RedisCommands;
  }

  async run<T>(work: (client: RedisCommands) => Promise<T>): Promise<T> {
    const client = this.ready;
    try {
      return await within(this.options.commandTimeoutMs, work(client));
    } catch (error) {
      if (!this.isOutage(error)) throw error;
      this.log.failed(error);
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
    await this.attempt(client => client.sSubscribe(channel, subscription.listener)).catch(() =>
      this.resubscribe(subscription),
    );
    return async () => {
      this.subscriptions.delete(subscription);
      await this.attempt(client => client.sUnsubscribe(channel, subscription.listener)).catch(
        () => undefined,
      );
    };
  }

  async close(): Promise<void> {
    this.closing.abort();
    await this.attempt(client => client.close()).catch(() => undefined);
    this.client?.destroy();
    await this.kept;
  }

  /** Connects, and checks from time to time that all shards answer. */
  private async keep(tried: () => void): Promise<void> {
    const { signal } = this.closing;
    const rest = (ms: number) => pause(ms, undefined, { signal, ref: false }).catch(() => undefined);
    while (!signal.aborted && !this.client) {
      await this.connect().catch((error: Error) => this.log.failed(error));
      tried();
      if (!this.client) await rest(PAUSE_MS);
    }
    while (!signal.aborted) {
      await rest(this.log.isLost ? PAUSE_MS : PING_MS);
      if (!signal.aborted) await this.check();
    }
  }

  private async connect(): Promise<void> {
    const client = this.create();
    // Each failed command reports its reason.
    client.on('error', () => undefined);
    const broken = new Set<string>();
    client.on('node-reconnecting', (node: Address) => broken.add(nameOf(node)));
    client.on('node-ready', (node: Address) => {
      for (const { client: node, pubSub } of client.masters) {
        node?.unref();
        pubSub?.client.unref();
      }
      if (broken.delete(nameOf(node))) for (const { onRestored } of this.subscriptions) onRestored?.();
    });
    client.on('sharded-channel-moved-error', () => this.resubscribeAll());
    // The client's own handler leaves rejections of these commands unhandled, which would end the process.
    client.removeAllListeners(RESUBSCRIBE);
    client.on(RESUBSCRIBE, () => this.resubscribeAll());
    try {
      await within(this.options.connectTimeoutMs, client.connect());
      await within(this.options.connectTimeoutMs, probeCluster(client, this.options.prefix));
    } catch (error) {
      client.destroy();
      throw error;
    }
    this.client = client;
    this.log.succeeded();
    this.resubscribeAll();
  }

  /** Whether a shard cannot be reached, or cannot serve now. Other replies are errors of the command. */
  private isOutage(error: unknown): error is Error {
    return error instanceof Error && (!this.isReply(error) || UNABLE.test(error.message));
  }

  private async check(): Promise<void> {
    try {
      await this.run(client => client.ping());
      if (this.log.isLost) this.log.succeeded();
    } catch {
      // The outage is in the log.
    }
  }

  private resubscribeAll(): void {
    for (const subscription of this.subscriptions) void this.resubscribe(subscription);
  }

  /** Tries until it succeeds. A subscription that is made twice has no effect. */
  private async resubscribe(subscription: Subscription): Promise<void> {
    const { signal } = this.closing;
    const { channel, listener, onRestored } = subscription;
    while (!signal.aborted && this.client && this.subscriptions.has(subscription)) {
      try {
        await this.attempt(client => client.sSubscribe(channel, listener));
        return onRestored?.();
      } catch {
        await pause(PAUSE_MS, undefined, { signal, ref: false }).catch(() => undefined);
      }
    }
  }

  private async attempt(work: (client: RedisClusterType) => Promise<unknown>): Promise<void> {
    if (this.client) await within(this.options.commandTimeoutMs, work(this.client));
  }
}

interface Address {
  readonly host: string;
  readonly port: number;
}

const nameOf = ({ host, port }: Address): string => `${host}:${port}`;
