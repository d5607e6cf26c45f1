import type { Setup } from './contenders/setup.js';
import { judged, median } from './rows.js';
import { startServer } from './server-process.js';
import type { Bound, Row } from './types.js';

/** From the start of a process until it listens: tools over as many routes of bare Nest. */
export async function measureStartUp(tools: number, bound: Bound, passes: number): Promise<Row> {
  const setup: Setup = { platform: 'express', era: '2026-07-28', tools };
  const times = { bare: [] as number[], ours: [] as number[] };
  for (let pass = 0; pass < passes; pass++) {
    for (const program of ['bare', 'ours'] as const) {
      const { startUpMs, stop } = await startServer(`contenders/${program}.js`, JSON.stringify(setup));
      stop();
      times[program].push(startUpMs);
    }
  }
  return judged({
    workload: `start-up with ${tools.toLocaleString('en')} tool${tools === 1 ? '' : 's'}, or routes`,
    figure: 'startUpMs',
    subject: 'ours',
    baseline: 'bare',
    bound,
    value: median(times.ours),
    baselineValue: median(times.bare),
  });
}
