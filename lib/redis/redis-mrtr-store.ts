import type { MrtrStore } from '../stores/mrtr-store.js';
import type { RedisConnection } from './redis-connection.js';

/** Keeps states of calls, and records used states, as Redis keys that expire. */
export class RedisMrtrStore implements MrtrStore {
  constructor(
    private readonly redis: RedisConnection,
    private readonly prefix: string,
  ) {}

  async set(key: string, value: string, ttlSeconds: number): Promise<void> {
    const expiration = { type: 'EX', value: ttlSeconds } as const;
    await this.redis.run(client => client.set(this.nameOf(key), value, { expiration }));
  }

  async get(key: string): Promise<string | undefined> {
    return (await this.redis.run(client => client.get(this.nameOf(key)))) ?? undefined;
  }

  async claim(key: string, ttlSeconds: number): Promise<boolean> {
    const expiration = { type: 'EX', value: ttlSeconds } as const;
    const written = await this.redis.run(client =>
      client.set(this.nameOf(key), '', { expiration, condition: 'NX' }),
    );
    return written !== null;
  }

  private nameOf(key: string): string {
    return `${this.prefix}mrtr:${key}`;
  }
}
