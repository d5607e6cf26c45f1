// What several nodes cost in Redis: counted commands of each operation, and a list change for many sessions.
// `npm run bench:nodes -- --nodes=6 --sessions=20000`
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { createClient } from 'redis';
import { startRedis } from '../redis.js';
import { call, listen, many, open } from './client.js';
import { counted, type Counts } from './counts.js';
import { modelOf, TRAFFIC, type Cost as RedisCost, type Costs } from './model.js';
import type { Cost, Request } from './node.js';

const numberOf = (name: string, byDefault: number): number =>
  Number(process.argv.find(one => one.startsWith(`--${name}=`))?.split('=')[1] ?? byDefault);
const NODES = numberOf('nodes', 6);
const SESSIONS = numberOf('sessions', 20_000);
/** A process has a limited number of open files. */
const LISTENING = Math.min(SESSIONS, numberOf('listening', 19_000));

await startRedis();
const redis = createClient({ url: process.env['REDIS_URL']! });
await redis.connect();
const children: ChildProcess[] = [];
const urls: string[] = [];
for (let index = 0; index < NODES; index++) {
  const child = fork(join(import.meta.dirname, 'node.js'), { execArgv: ['--expose-gc'] });
  children.push(child);
  const [url] = (await once(child, 'message')) as [string];
  urls.push(url);
}
const ask = (request: Request) => children.forEach(child => child.send(request));
const nodeCostsNow = async (): Promise<Cost[]> => {
  const answers = children.map(async child => ((await once(child, 'message')) as [Cost])[0]);
  ask('stop');
  return Promise.all(answers);
};

/** Beats of the nodes, which run beside everything else. */
const IDLE_MS = 4000;
const idle = await counted(redis, () => pause(IDLE_MS));
const rows: Record<string, unknown>[] = [];
const measure = async (
  operation: string,
  times: number,
  work: () => Promise<unknown>,
): Promise<RedisCost> => {
  const start = performance.now();
  const counts = await counted(redis, work);
  const share = (performance.now() - start) / IDLE_MS;
  const each = (name: keyof Counts) =>
    Math.max(0, Math.round(((counts[name] - idle[name] * share) / times) * 1000) / 1000);
  const row = {
    scripts: each('scripts'),
    reads: each('reads'),
    publishes: each('publishes'),
    cpuUs: each('cpuUs'),
  };
  rows.push({ operation, times, ...row, 'bytes to Redis': each('bytes') });
  process.stderr.write(`${operation}\n`);
  return row;
};

const [home, other] = urls;
const session = await open(home);
const atHome = await measure('a call at home', 1000, () =>
  many(1000, () => call(home, session, 'echo', { text: 'a' })),
);
const visiting = await many(64, () => open(home));
const elsewhere = await measure('a call on another node', 10_000, () =>
  many(10_000, index => call(other, visiting[index % 64], 'echo', { text: 'a' })),
);
const streamed = await measure('a streamed call with 1 event', 5000, () =>
  many(5000, () => call(home, session, 'report', { events: 1 }, 't')),
);
await measure('a streamed call with 101 events', 50, () =>
  many(50, () => call(home, session, 'report', { events: 101 }, 't')),
);
const opened: string[] = [];
await measure('a session is opened', SESSIONS, async () => {
  opened.push(...(await many(SESSIONS, index => open(urls[index % NODES]))));
});
await measure('a list changes, no session listens', 1, async () => {
  ask('change');
  await pause(2000);
});
let received = 0;
await measure('a session begins to listen', LISTENING, async () => {
  await many(LISTENING, index => listen(urls[index % NODES], opened[index], () => (received += 1)));
});
// Each is told of the change before it listened.
while (received < LISTENING) await pause(50);
await measure('a stream that idles for 10 s', LISTENING, () => pause(10_000));

received = 0;
let refused = 0;
let longestCallMs = 0;
let isOver = false;
const probing = Promise.all(
  urls.map(async url => {
    const own = await open(url);
    while (!isOver) {
      const start = performance.now();
      await call(url, own, 'echo', { text: 'a' }).catch(() => (refused += 1));
      await open(url).catch(() => (refused += 1));
      longestCallMs = Math.max(longestCallMs, performance.now() - start);
      await pause(20);
    }
  }),
);
ask('start');
children[0].send('watch' satisfies Request);
const start = performance.now();
const told = await measure('a list changes on one node, all listen', LISTENING, async () => {
  children[0].send('change' satisfies Request);
  while (received < LISTENING) await pause(10);
});
const tookMs = performance.now() - start;
const nodeCosts = await nodeCostsNow();
isOver = true;
await probing;

// The model against a mix of calls, with one call in ten streamed, on all nodes in turn.
const MIXED = 4000;
const perNode = (name: keyof RedisCost) => (idle[name] / NODES) * (1000 / IDLE_MS);
const beat = {
  scripts: perNode('scripts'),
  reads: perNode('reads'),
  publishes: perNode('publishes'),
  cpuUs: perNode('cpuUs'),
};
const costs: Costs = { home: atHome, elsewhere, streamed, told, beat };
const mixedStart = performance.now();
const mixed = await counted(redis, () =>
  many(MIXED, index => {
    const url = urls[Math.floor(index / 10) % NODES];
    const one = opened[(index * 7) % SESSIONS];
    return index % 10 === 0
      ? call(url, one, 'report', { events: 1 }, 't')
      : call(url, one, 'echo', { text: 'a' });
  }),
);
const seconds = (performance.now() - mixedStart) / 1000;
const foretold = modelOf(costs, {
  nodes: NODES,
  sessions: MIXED,
  callsPerMinute: 60 / seconds,
  atHome: 1 / NODES,
  streamed: 0.1,
  listening: 0,
  listChangesPerHour: 0,
});

process.stdout.write(`${NODES} nodes, ${SESSIONS} sessions, ${LISTENING} listen\n`);
console.table(rows);
console.table({
  'all told after, s': Math.round(tookMs) / 1000,
  'refused meanwhile': refused,
  'longest call and open, ms': Math.round(longestCallMs),
  'longest turn of a node, ms': Math.round(Math.max(...nodeCosts.map(({ longestMs }) => longestMs))),
  'most CPU in a turn of the first node, ms': Math.round(nodeCosts[0].mostCpuMs * 10) / 10,
  'CPU of a node, ms': Math.round(Math.max(...nodeCosts.map(({ cpuMs }) => cpuMs))),
  'heap of a node, MB': Math.round(Math.max(...nodeCosts.map(({ heapMb }) => heapMb))),
  'received twice': received - LISTENING,
});
process.stdout.write(`${MIXED} mixed calls in ${seconds.toFixed(1)} s: measured, and what the model says\n`);
const rounded = (cost: RedisCost, times = 1) =>
  Object.fromEntries(
    (['scripts', 'reads', 'publishes', 'cpuUs'] as const).map(name => [name, Math.round(cost[name] * times)]),
  );
console.table({ measured: rounded(mixed), model: rounded(foretold, seconds) });
console.table(
  TRAFFIC.map(traffic => {
    const { nodes, sessions, atHome } = traffic;
    return { nodes, sessions, atHome, ...rounded(modelOf(costs, traffic)) };
  }),
);
for (const child of children) child.kill();
process.exit(0);
