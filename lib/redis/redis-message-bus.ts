import type { MessageBus } from '../stores/message-bus.js';
import { jsonIn } from '../util/json-in.js';
import { RedisKeys } from './redis-keys.js';
import { RedisUnavailable } from './redis-link.js';

/** Sends messages by Redis Pub/Sub. Messages are lost while Redis is not available. */
export class RedisMessageBus extends RedisKeys implements MessageBus {
  async publish(channel: string, message: object): Promise<void> {
    const text = JSON.stringify(message);
    try {
      await this.redis.run(client =>
        this.redis.publishing === 'PUBLISH'
          ? client.publish(this.keyOf('bus', channel), text)
          : client.sPublish(this.keyOf('bus', channel), text),
      );
    } catch (error) {
      if (!(error instanceof RedisUnavailable)) throw error;
    }
  }

  subscribe(channel: string, listener: (message: unknown) => void): Promise<() => Promise<void>> {
    return this.redis.subscribe(this.keyOf('bus', channel), text => {
      // Other programs can publish to the channel.
      const message = jsonIn(text);
      if (message !== undefined) listener(message);
    });
  }
}
