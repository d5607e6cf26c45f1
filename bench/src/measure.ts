import { checkAnswer, checkWithClient } from './check.js';
import { load } from './load.js';
import { printProfile } from './print-profile.js';
import { post, requestOf, type Running } from './requests.js';
import { median } from './rows.js';
import { startServer, type ServerProcess } from './server-process.js';
import type { Memory } from './contenders/setup.js';
import type { Measured, Workload } from './types.js';

const CONNECTIONS = 16;

/** How long a workload is measured. */
export interface LoadEffort {
  readonly passes: number;
  /** How long each server is warmed up before the first pass, and how long one pass takes, in milliseconds. */
  readonly warmUpMs: number;
  readonly passMs: number;
  /** Whether to print where each server spent its time. That makes it slower. */
  readonly isProfiled?: boolean;
}

type Pass = Omit<Measured, keyof Memory>;

export async function measure(workload: Workload, effort: LoadEffort): Promise<Record<string, Measured>> {
  const names = Object.keys(workload.contenders);
  const starting = names.map(name => {
    const { program, setup } = workload.contenders[name];
    return startServer(`contenders/${program}.js`, JSON.stringify(setup));
  });
  try {
    const servers = await Promise.all(starting);
    const contenders = names.map((name, index) => ({
      ...workload.contenders[name],
      url: servers[index].url,
    }));
    for (const contender of contenders) await checkWithClient(contender);
    await checkAnswers(contenders);

    const requests = await Promise.all(contenders.map(requestsOf));
    const run = (index: number, ms: number) => passOf(servers[index], requests[index], ms);
    for (const index of names.keys()) await run(index, effort.warmUpMs);
    if (effort.isProfiled) await Promise.all(servers.map(({ ask }) => ask('start profile')));
    const passes: Pass[][] = names.map(() => []);
    for (let pass = 0; pass < effort.passes; pass++) {
      for (const index of names.keys()) passes[index].push(await run(index, effort.passMs));
    }
    if (effort.isProfiled) {
      for (const [index, name] of names.entries()) {
        printProfile(`${workload.name}, ${name}`, await servers[index].ask('end profile'));
      }
    }
    const measured: [string, Measured][] = [];
    for (const [index, name] of names.entries()) {
      measured.push([name, { ...medians(passes[index]), ...(await servers[index].ask<Memory>('memory')) }]);
    }
    return Object.fromEntries(measured);
  } finally {
    for (const started of await Promise.allSettled(starting)) {
      if (started.status === 'fulfilled') started.value.stop();
    }
  }
}

async function passOf(
  { url, ask }: ServerProcess,
  requests: Awaited<ReturnType<typeof requestsOf>>,
  ms: number,
) {
  const before = await ask<number>('cpu');
  const { count, ...throughput } = await load({ url, requests, ms });
  return { ...throughput, cpuUs: ((await ask<number>('cpu')) - before) / count };
}

function medians(passes: readonly Pass[]): Pass {
  const of = (figure: keyof Pass) => median(passes.map(pass => pass[figure]));
  return { rps: of('rps'), p99Ms: of('p99Ms'), cpuUs: of('cpuUs') };
}

async function checkAnswers(contenders: readonly Running[]): Promise<void> {
  const ours = contenders.find(({ program }) => program === 'ours')!;
  const answerOf = async (one: Running) => post(one.url, await postedBy(one));
  const expected = await answerOf(ours);
  for (const contender of contenders) checkAnswer(contender, await answerOf(contender), expected);
}

/** What one client posts, after what it has to post before. */
async function postedBy(contender: Running) {
  const { url, call, next } = contender;
  const posted = await requestOf(contender, call);
  return next ? requestOf(contender, next(await post(url, posted))) : posted;
}

/** Each connection is a client: in the 2025 era, it has a session of its own. */
const requestsOf = (contender: Running) =>
  Promise.all(Array.from({ length: CONNECTIONS }, () => postedBy(contender)));
