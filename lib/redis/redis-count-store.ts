import type { CountStore } from '../stores/shared-counts.js';
import { RedisKeys, RedisScript } from './redis-keys.js';

/**
 * Sets the count of a node, or removes it, and adds those of the other nodes that have not expired. ARGV: node, count,
 * lifetime in milliseconds.
 */
const EXCHANGE = new RedisScript(`
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
if ARGV[2] == '0' then redis.call('HDEL', KEYS[1], ARGV[1])
else
  redis.call('HSET', KEYS[1], ARGV[1], ARGV[2] .. ' ' .. string.format('%d', now + ARGV[3]))
  redis.call('PEXPIRE', KEYS[1], ARGV[3])
end
local others = 0
local all = redis.call('HGETALL', KEYS[1])
for index = 1, #all, 2 do
  local count, expires = string.match(all[index + 1], '^(%d+) (%d+)$')
  if not count or tonumber(expires) <= now then redis.call('HDEL', KEYS[1], all[index])
  elseif all[index] ~= ARGV[1] then others = others + count end
end
return others`);

/** Stores the counts of a caller as a Redis hash, with a field for each node. */
export class RedisCountStore extends RedisKeys implements CountStore {
  async exchange(key: string, node: string, count: number, ttlMs: number): Promise<number> {
    const args = [node, String(count), String(ttlMs)];
    return (await this.eval(EXCHANGE, [this.keyOf('count', key)], args)) as number;
  }
}
