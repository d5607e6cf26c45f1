import type { MrtrStore } from '../stores/mrtr-store.js';
import { RedisKeys } from './redis-keys.js';

/** Keeps states of calls, and records used states, as Redis keys that expire. */
export class RedisMrtrStore extends RedisKeys implements MrtrStore {
  async set(key: string, value: string, ttlSeconds: number): Promise<void> {
    const expiration = { type: 'EX', value: ttlSeconds } as const;
    await this.redis.run(client => client.set(this.keyOf('mrtr', key), value, { expiration }));
  }

  async get(key: string): Promise<string | undefined> {
    return (await this.redis.run(client => client.get(this.keyOf('mrtr', key)))) ?? undefined;
  }

  async claim(key: string, ttlSeconds: number): Promise<boolean> {
    const expiration = { type: 'EX', value: ttlSeconds } as const;
    const written = await this.redis.run(client =>
      client.set(this.keyOf('mrtr', key), '', { expiration, condition: 'NX' }),
    );
    return written !== null;
  }
}
