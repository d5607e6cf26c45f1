import { TaskStoreFullError, type StoredTask, type TaskStore } from '../stores/task-store.js';
import { RedisKeys, RedisScript } from './redis-keys.js';

/** How long the leases of a server are kept after its last node has gone, in milliseconds. */
const LEASES_KEPT_MS = 86_400_000;

/** KEYS: task. ARGV: revision, json, expiry. */
const CREATE = new RedisScript(`
redis.call('HSET', KEYS[1], 'revision', ARGV[1], 'json', ARGV[2])
redis.call('PEXPIREAT', KEYS[1], ARGV[3])`);

/** KEYS: task. ARGV: expected revision, revision, json, expiry, PUBLISH or SPUBLISH, channel. */
const REPLACE = new RedisScript(`
if redis.call('HGET', KEYS[1], 'revision') ~= ARGV[1] then return 0 end
redis.call('HSET', KEYS[1], 'revision', ARGV[2], 'json', ARGV[3])
redis.call('PEXPIREAT', KEYS[1], ARGV[4])
redis.call(ARGV[5], ARGV[6], ARGV[2])
return 1`);

/** The clock of Redis decides about leases, because the clocks of the nodes differ. */
const LEASE_END = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local function lease(id)
  redis.call('ZADD', KEYS[1], now + ARGV[1], id)
  redis.call('PEXPIRE', KEYS[1], ${LEASES_KEPT_MS})
end
`;

/** KEYS: leases. ARGV: duration, ids. */
const LEASE = new RedisScript(`${LEASE_END}
for index = 2, #ARGV do lease(ARGV[index]) end`);

/** KEYS: leases. ARGV: duration, maximum. */
const TAKE_LAPSED = new RedisScript(`${LEASE_END}
local ids = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now, 'LIMIT', 0, ARGV[2])
for _, id in ipairs(ids) do lease(id) end
return ids`);

/** Keeps tasks as Redis hashes that expire. */
export class RedisTaskStore extends RedisKeys implements TaskStore {
  async create(task: StoredTask): Promise<void> {
    const { id, revision, expiresAt } = task;
    const args = [String(revision), JSON.stringify(task), String(expiresAt)];
    await full(this.eval(CREATE, [this.keyOf('task', id)], args));
  }

  async get(id: string): Promise<StoredTask | undefined> {
    const json = await this.redis.run(client => client.hGet(this.keyOf('task', id), 'json'));
    return typeof json === 'string' ? (JSON.parse(json) as StoredTask) : undefined;
  }

  async replace(task: StoredTask): Promise<boolean> {
    const { id, revision, expiresAt } = task;
    const { publishing } = this.redis;
    const args = [
      revision - 1,
      revision,
      JSON.stringify(task),
      expiresAt,
      publishing,
      this.keyOf('watch', id),
    ];
    return (await full(this.eval(REPLACE, [this.keyOf('task', id)], args.map(String)))) === 1;
  }

  async delete(id: string): Promise<void> {
    await this.redis.run(client => client.del(this.keyOf('task', id)));
  }

  watch(id: string, listener: (revision: number | undefined) => void): Promise<() => Promise<void>> {
    return this.redis.subscribe(
      this.keyOf('watch', id),
      revision => listener(Number(revision)),
      () => listener(undefined),
    );
  }

  async lease(server: string, ids: readonly string[], leaseMs: number): Promise<void> {
    await this.eval(LEASE, [this.keyOf('leases', server)], [String(leaseMs), ...ids]);
  }

  async takeLapsed(server: string, leaseMs: number, max: number): Promise<readonly string[]> {
    const args = [String(leaseMs), String(max)];
    return (await this.eval(TAKE_LAPSED, [this.keyOf('leases', server)], args)) as string[];
  }

  async release(server: string, ids: readonly string[]): Promise<void> {
    if (ids.length === 0) return;
    await this.redis.run(client => client.zRem(this.keyOf('leases', server), [...ids]));
  }
}

/** Redis refuses to write when its memory is full. */
async function full<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    const isFull = error instanceof Error && error.message.includes('OOM command not allowed');
    throw isFull ? new TaskStoreFullError('Redis has no memory left') : error;
  }
}
