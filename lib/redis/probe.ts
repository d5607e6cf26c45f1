import type { RedisClientType, RedisClusterType } from 'redis';

/** The commands of the stores, each once, on one key that they remove. The scripts of the stores run no others. */
const commands = (key: string): string[][] => [
  ['TIME'],
  ['DEL', key],
  ['HSET', key, 'a', '1'],
  ['HGET', key, 'a'],
  ['HGETALL', key],
  ['HDEL', key, 'a'],
  ['XADD', key, 'MAXLEN', '1', '*', 'a', '1'],
  ['XRANGE', key, '-', '+', 'COUNT', '1'],
  ['XREVRANGE', key, '+', '-', 'COUNT', '1'],
  ['XTRIM', key, 'MINID', '0'],
  ['XDEL', key, '0-1'],
  ['DEL', key],
  ['ZADD', key, '1', 'a'],
  ['ZRANGEBYSCORE', key, '-inf', '1', 'LIMIT', '0', '1'],
  ['ZREM', key, 'a'],
  ['SET', key, '0', 'NX', 'PX', '1000'],
  ['GET', key],
  ['INCRBY', key, '1'],
  ['PTTL', key],
  ['EXISTS', key],
  ['PEXPIRE', key, '1000'],
  ['PEXPIREAT', key, '1'],
  ['EVAL', 'return 1', '1', key],
];

/** A Redis whose memory is full can be read. */
function unlessFull(error: Error): void {
  if (!error.message.startsWith('OOM')) throw error;
}

/**
 * Checks that the stores can use a Redis: that it can write, and that the user has the rights.
 * @throws Error with the reason if they cannot
 */
export async function probe(client: RedisClientType, prefix: string): Promise<void> {
  // A user may lack the right to INFO.
  const info = await client.info('cluster').catch(() => '');
  if (info.includes('cluster_enabled:1')) {
    throw new Error('it is a node of a Redis Cluster: use the option "cluster"');
  }
  await run(
    client,
    [...commands(`${prefix}probe`), ['PUBLISH', `${prefix}probe`, '']],
    'it is a Sentinel, for which there is the option "sentinel", or older than Redis 6.2',
  );
}

/**
 * Checks one shard of a cluster; the others have the same users.
 * @throws Error with the reason if the stores cannot use it
 */
export async function probeCluster(cluster: RedisClusterType, prefix: string): Promise<void> {
  const key = `${prefix}{probe}`;
  const shard = (await cluster.getNodeClientForKey(key)) as unknown as RedisClientType;
  await run(shard, [...commands(key), ['SPUBLISH', key, '']], 'it is older than Redis 7');
}

async function run(client: RedisClientType, all: string[][], reason: string): Promise<void> {
  try {
    await Promise.all(all.map(command => client.sendCommand(command).catch(unlessFull)));
  } catch (error) {
    if (!(error instanceof Error) || !/unknown command/i.test(error.message)) throw error;
    throw new Error(reason, { cause: error });
  }
}
