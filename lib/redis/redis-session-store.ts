import type { SessionFields, SessionStore } from '../stores/session-store.js';
import { RedisKeys, RedisScript } from './redis-keys.js';

/**
 * Sets and removes fields of an existing hash that has the expected fields. ARGV: lifetime, number of arguments with
 * expected fields, number of arguments with fields to set, their names and values in turn, names to remove.
 */
const UPDATE = new RedisScript(`
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
local set = 4 + ARGV[2]
local removed = set + ARGV[3]
for index = 4, set - 1, 2 do
  if redis.call('HGET', KEYS[1], ARGV[index]) ~= ARGV[index + 1] then return 0 end
end
for index = set, removed - 1, 2 do redis.call('HSET', KEYS[1], ARGV[index], ARGV[index + 1]) end
for index = removed, #ARGV do redis.call('HDEL', KEYS[1], ARGV[index]) end
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return 1`);

/** Stores sessions as Redis hashes that expire. */
export class RedisSessionStore extends RedisKeys implements SessionStore {
  async create(id: string, fields: SessionFields, ttlMs: number): Promise<void> {
    const key = this.keyOf('session', id);
    await this.redis.run(client => client.multi().del(key).hSet(key, fields).pExpire(key, ttlMs).exec());
  }

  async read(id: string): Promise<SessionFields | undefined> {
    const fields = await this.redis.run(client => client.hGetAll(this.keyOf('session', id)));
    return Object.keys(fields).length === 0 ? undefined : { ...fields };
  }

  async update(
    id: string,
    fields: Readonly<Record<string, string | undefined>>,
    ttlMs: number,
    expected: SessionFields = {},
  ): Promise<boolean> {
    const held = Object.entries(expected).flat();
    const set: string[] = [];
    const removed: string[] = [];
    for (const [name, text] of Object.entries(fields)) {
      if (text === undefined) removed.push(name);
      else set.push(name, text);
    }
    const keys = [this.keyOf('session', id)];
    const args = [...[ttlMs, held.length, set.length].map(String), ...held, ...set, ...removed];
    return (await this.eval(UPDATE, keys, args)) === 1;
  }

  async delete(id: string): Promise<void> {
    await this.redis.run(client => client.del(this.keyOf('session', id)));
  }
}
