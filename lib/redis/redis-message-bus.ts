import type { MessageBus } from '../stores/message-bus.js';
import { jsonIn } from '../util/json-in.js';
import { RedisUnavailable, type RedisConnection } from './redis-connection.js';

/** Sends messages by Redis Pub/Sub. Messages are lost while Redis is not available. */
export class RedisMessageBus implements MessageBus {
  constructor(
    private readonly redis: RedisConnection,
    private readonly prefix: string,
  ) {}

  async publish(channel: string, message: object): Promise<void> {
    const text = JSON.stringify(message);
    try {
      await this.redis.run(client => client.publish(this.nameOf(channel), text));
    } catch (error) {
      if (!(error instanceof RedisUnavailable)) throw error;
    }
  }

  subscribe(channel: string, listener: (message: unknown) => void): Promise<() => Promise<void>> {
    return this.redis.subscribe(this.nameOf(channel), text => {
      // Other programs can publish to the channel.
      const message = jsonIn(text);
      if (message !== undefined) listener(message);
    });
  }

  private nameOf(channel: string): string {
    return `${this.prefix}bus:${channel}`;
  }
}
