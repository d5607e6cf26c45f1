// `--smoke` tries everything once, and `--quick` takes two minutes. `--only=<part of a name>` chooses workloads, and
// `--profile` prints where each server spent its time. `--write-docs` writes the figures for the documentation.
import { measure, type LoadEffort } from './measure.js';
import { hasRedis, startRedis } from './redis.js';
import { rowOf } from './rows.js';
import { measureStartUp } from './start-up.js';
import { printTable } from './table.js';
import type { Row, Workload } from './types.js';
import { WORKLOADS } from './workloads.js';
import { writeDocs, writeResults } from './write.js';

const has = (flag: string) => process.argv.includes(flag);
const isSmoke = has('--smoke');
const isQuick = has('--quick');
const [, onlyName] = process.argv.find(argument => argument.startsWith('--only='))?.split('=') ?? [];

const effort: LoadEffort = isSmoke
  ? { passes: 1, warmUpMs: 1000, passMs: 1000 }
  : isQuick
    ? { passes: 3, warmUpMs: 1500, passMs: 1200 }
    : { passes: 5, warmUpMs: 4000, passMs: 3000 };

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

/** The workload without one of its contenders. */
const without = (gone: string, { contenders, comparisons, ...rest }: Workload): Workload => ({
  ...rest,
  contenders: Object.fromEntries(Object.entries(contenders).filter(([name]) => name !== gone)),
  comparisons: comparisons.filter(({ baseline }) => baseline !== gone),
});

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
    rows.push(...comparisons.map(comparison => rowOf(name, comparison, measured)));
  });
}

if (!isQuick && onlyName === undefined) {
  const passes = isSmoke ? 1 : 7;
  await attempt('start-up', async () => {
    rows.push(await measureStartUp(1, { most: 0, orMore: 200 }, passes));
    rows.push(await measureStartUp(1000, { most: 1.5 }, passes));
  });
}

printTable(rows);
writeResults(rows);
if (has('--write-docs')) await writeDocs(rows);

// A smoke run is too short to judge by: it shows that everything can be measured.
const missed = isSmoke ? 0 : rows.filter(({ isMet }) => !isMet).length;
const failed = missed + broken.length;
console.log(`\n${rows.length - missed} passed, ${failed} failed`);
process.exitCode = failed > 0 ? 1 : 0;
