// `--smoke` tries everything once, and `--quick` takes two minutes. `--only=<part of a name>` chooses workloads, and
// `--profile` prints where each server spent its time. `--write-docs` writes the figures for the documentation.
import { benchEngine } from './engine.js';
import { measure, type LoadEffort, type Measured } from './measure.js';
import { benchMrtr } from './mrtr.js';
import { benchRemote } from './remote.js';
import { report, type Line } from './report.js';
import { hasRedis, startRedis } from './redis.js';
import { measureStartUp } from './start-up.js';
import { printTable } from './table.js';
import { rowOf, without, type Row } from './workload.js';
import { WORKLOADS } from './workloads.js';
import { writeDocs, writeResults } from './write.js';

const has = (flag: string) => process.argv.includes(flag);
const isSmoke = has('--smoke');
const isQuick = has('--quick');
const [, onlyName] = process.argv.find(argument => argument.startsWith('--only='))?.split('=') ?? [];

const effort: LoadEffort = isSmoke
  ? { passes: 1, warmUpMs: 50, passMs: 100 }
  : isQuick
    ? { passes: 3, warmUpMs: 1500, passMs: 1200 }
    : { passes: 3, warmUpMs: 4000, passMs: 6000 };

const isProfiled = has('--profile');

const rows: Row[] = [];
const broken: string[] = [];

/** One contender that breaks off does not end the others' measurement. */
async function attempt(name: string, run: () => Promise<void>): Promise<void> {
  try {
    await run();
  } catch (error) {
    broken.push(`${name}: ${(error as Error).message}`);
    console.error(broken.at(-1));
  }
}

function warnOfLoad(name: string, measured: Record<string, Measured>): void {
  for (const [contender, { loadCpu }] of Object.entries(measured)) {
    if (loadCpu > 0.95 && !isSmoke) console.log(`${name}: the load could not send more to ${contender}`);
  }
}

const chosen = WORKLOADS.filter(({ name, quick }) =>
  onlyName === undefined ? quick || !isQuick : name.includes(onlyName),
);
const workloads = chosen.filter(({ needsRedis }) => hasRedis || !needsRedis);
if (workloads.length < chosen.length)
  console.log('Without the workloads with Redis: there is no redis-server');
if (workloads.some(({ needsRedis }) => needsRedis)) await startRedis();
for (const workload of isQuick ? workloads.map(one => without('peer', one)) : workloads) {
  const { name, comparisons } = workload;
  console.error(name);
  await attempt(name, async () => {
    const measured = await measure(workload, { ...effort, isProfiled });
    warnOfLoad(name, measured);
    rows.push(...comparisons.map(comparison => rowOf(name, comparison, measured)));
  });
}

const lines: Line[] = [];
if (!isQuick && onlyName === undefined) {
  await attempt('start-up', async () => void rows.push(await measureStartUp(isSmoke ? 1 : 5)));
  const shortest = { rounds: 1, roundMs: 1 };
  lines.push(
    ...(await benchEngine(isSmoke ? shortest : { rounds: 15, roundMs: 40 })),
    ...(await benchRemote(isSmoke ? shortest : { rounds: 9, roundMs: 300 })),
    ...(await benchMrtr(isSmoke ? shortest : { rounds: 9, roundMs: 100 })),
  );
}

printTable(rows);
if (lines.length > 0) console.log('');
const exceeded = lines.length > 0 ? report(lines) : [];
writeResults(rows, lines);
if (has('--write-docs')) await writeDocs(rows);

// A smoke run is too short to judge by: it shows that everything can be measured.
const missed = isSmoke ? 0 : rows.filter(({ isMet }) => !isMet).length + exceeded.length;
const failed = missed + broken.length;
console.log(`\n${rows.length + lines.length - missed} passed, ${failed} failed`);
process.exitCode = failed > 0 ? 1 : 0;
