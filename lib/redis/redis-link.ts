import type { RedisClientType } from 'redis';
import type { RedisSettings } from './redis-options.js';

export type RedisConnectionOptions = Pick<RedisSettings, 'prefix' | 'connectTimeoutMs' | 'commandTimeoutMs'>;

/** Redis is not available now. The reason is in the log. */
export class RedisUnavailable extends Error {}

/** Maximum commands that wait for an answer. */
export const MAX_COMMANDS = 10_000;

/** The client of a Redis, or of a cluster, as far as the stores use it. */
export type RedisCommands = Pick<
  RedisClientType,
  | 'del'
  | 'eval'
  | 'evalSha'
  | 'get'
  | 'hGet'
  | 'hGetAll'
  | 'multi'
  | 'ping'
  | 'publish'
  | 'set'
  | 'sPublish'
  | 'zRem'
>;

/** A node's way to Redis. While Redis is not available, commands fail at once, and the way is sought in the background. */
export interface RedisLink {
  /** The command that sends a message: a cluster sends it only within the shard of its channel. */
  readonly publishing: 'PUBLISH' | 'SPUBLISH';
  /** The client for commands that are sent at once. @throws RedisUnavailable */
  readonly ready: RedisCommands;
  /** Waits for the first attempt to connect, successful or not. */
  open(): Promise<void>;
  /**
   * Sends commands.
   * @throws RedisUnavailable while Redis is not available or does not answer in time; errors of Redis
   */
  run<T>(work: (client: RedisCommands) => Promise<T>): Promise<T>;
  /**
   * Listens to a channel, also after reconnecting.
   * @param onRestored called after reconnecting, because messages may have been missed
   * @returns a function that stops listening
   */
  subscribe(
    channel: string,
    listener: (text: string) => void,
    onRestored?: () => void,
  ): Promise<() => Promise<void>>;
  /** Waits for running commands, up to their timeout, and closes the connection. */
  close(): Promise<void>;
}

export interface Subscription {
  readonly channel: string;
  readonly listener: (text: string) => void;
  readonly onRestored?: () => void;
}

/** In how many parts a deadline is counted. */
const PARTS = 10;

/**
 * Refuses work that takes too long. A part in which the node is blocked counts once, because Redis may have answered in
 * the meantime.
 * @throws RedisUnavailable
 */
export async function within<T>(timeoutMs: number, work: Promise<T>): Promise<T> {
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
