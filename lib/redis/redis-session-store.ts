import type { SessionFields, SessionStore } from '../shared/session-store.js';
import type { RedisConnection } from './redis-connection.js';

/**
 * Sets and removes fields of an existing hash. ARGV: lifetime, number of fields to set, their names and values, names
 * to remove.
 */
const UPDATE = `
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
local set = tonumber(ARGV[2])
for index = 3, 2 + 2 * set, 2 do redis.call('HSET', KEYS[1], ARGV[index], ARGV[index + 1]) end
for index = 3 + 2 * set, #ARGV do redis.call('HDEL', KEYS[1], ARGV[index]) end
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return 1`;

/** Stores sessions as Redis hashes that expire. */
export class RedisSessionStore implements SessionStore {
  constructor(
    private readonly redis: RedisConnection,
    private readonly prefix: string,
  ) {}

  async create(id: string, fields: SessionFields, ttlMs: number): Promise<void> {
    const key = this.nameOf(id);
    await this.redis.run(client => client.multi().del(key).hSet(key, fields).pExpire(key, ttlMs).exec());
  }

  async read(id: string): Promise<SessionFields | undefined> {
    const fields = await this.redis.run(client => client.hGetAll(this.nameOf(id)));
    return Object.keys(fields).length === 0 ? undefined : { ...fields };
  }

  async update(
    id: string,
    fields: Readonly<Record<string, string | undefined>>,
    ttlMs: number,
  ): Promise<boolean> {
    const set: string[] = [];
    const removed: string[] = [];
    for (const [name, text] of Object.entries(fields)) {
      if (text === undefined) removed.push(name);
      else set.push(name, text);
    }
    const options = {
      keys: [this.nameOf(id)],
      arguments: [String(ttlMs), String(set.length / 2), ...set, ...removed],
    };
    return (await this.redis.run(client => client.eval(UPDATE, options))) === 1;
  }

  async delete(id: string): Promise<void> {
    await this.redis.run(client => client.del(this.nameOf(id)));
  }

  private nameOf(id: string): string {
    return `${this.prefix}session:${id}`;
  }
}
