import type { createClient } from 'redis';

/** What Redis has done. */
export interface Counts {
  /** Scripts of clients, each one round trip. */
  readonly scripts: number;
  readonly reads: number;
  readonly publishes: number;
  /** Received from clients. */
  readonly bytes: number;
  /** CPU time of Redis, in microseconds. */
  readonly cpuUs: number;
}

type Redis = Pick<ReturnType<typeof createClient>, 'info'>;

/** Counts what Redis does while work runs. No script of the stores reads a hash as a whole, or publishes. */
export async function counted(redis: Redis, work: () => Promise<unknown>): Promise<Counts> {
  const before = await numbersOf(redis);
  await work();
  const after = await numbersOf(redis);
  const keys = Object.keys(before) as (keyof Counts)[];
  return Object.fromEntries(keys.map(key => [key, after[key] - before[key]])) as unknown as Counts;
}

async function numbersOf(redis: Redis): Promise<Counts> {
  const [commands, stats] = [await redis.info('commandstats'), await redis.info('stats')];
  const cpu = await redis.info('cpu');
  const callsOf = (name: string) =>
    Number(new RegExp(`cmdstat_${name}:calls=(\\d+)`).exec(commands)?.[1] ?? 0);
  const statOf = (name: string) => Number(new RegExp(`${name}:(\\d+)`).exec(stats)?.[1] ?? 0);
  const cpuOf = (kind: string) => Number(new RegExp(`used_cpu_${kind}:([\\d.]+)`).exec(cpu)?.[1] ?? 0);
  return {
    scripts: callsOf('evalsha') + callsOf('eval'),
    reads: callsOf('hgetall'),
    publishes: callsOf('publish'),
    bytes: statOf('total_net_input_bytes'),
    cpuUs: (cpuOf('user') + cpuOf('sys')) * 1e6,
  };
}
