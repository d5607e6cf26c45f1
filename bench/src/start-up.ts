import type { Setup } from './contenders/setup.js';
import { median } from './ratio.js';
import { startServer } from './server-process.js';
import type { Row } from './workload.js';

const SETUP: Setup = { platform: 'express', era: '2026-07-28', tools: 1000 };
const MOST = 1.5;

/** From the start of a process until it listens: 1,000 tools over 1,000 routes of bare Nest. */
export async function measureStartUp(passes: number): Promise<Row> {
  const times = { bare: [] as number[], ours: [] as number[] };
  for (let pass = 0; pass < passes; pass++) {
    for (const program of ['bare', 'ours'] as const) {
      const { startUpMs, stop } = await startServer(`contenders/${program}.js`, JSON.stringify(SETUP));
      stop();
      times[program].push(startUpMs);
    }
  }
  const [value, baselineValue] = [median(times.ours), median(times.bare)];
  const ratio = value / baselineValue;
  return {
    workload: 'start-up with 1,000 tools, or routes',
    figure: 'startUpMs',
    subject: 'ours',
    baseline: 'bare',
    bound: { most: MOST },
    value,
    baselineValue,
    ratio,
    isMet: ratio <= MOST,
  };
}
