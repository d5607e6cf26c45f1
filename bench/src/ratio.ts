import { Bench } from 'tinybench';

/** How much is measured. A smoke run is too short for its figures to mean anything. */
export interface Effort {
  readonly rounds: number;
  /** How long one side is measured in one round, in milliseconds; over HTTP it is warmed up as long before. */
  readonly roundMs: number;
}

export interface Comparison {
  /** Microseconds for one call of each, the median of the rounds. */
  readonly subjectUs: number;
  readonly baselineUs: number;
  /** The median of the rounds' own ratios, so that a slow moment of the machine weighs on both sides of one. */
  readonly ratio: number;
}

type Work = () => unknown;

/**
 * Compares two pieces of work in alternating rounds.
 * @param batch how many calls are timed together: one can take less than a clock can tell
 */
export async function compare(
  subject: Work,
  baseline: Work,
  effort: Effort,
  batch = 100,
): Promise<Comparison> {
  const microseconds = (work: Work, time: number) => timeOf(work, time, batch);
  await microseconds(subject, effort.roundMs * 2);
  await microseconds(baseline, effort.roundMs * 2);
  const rounds: { subjectUs: number; baselineUs: number }[] = [];
  for (let round = 0; round < effort.rounds; round++) {
    const subjectUs = await microseconds(subject, effort.roundMs);
    const baselineUs = await microseconds(baseline, effort.roundMs);
    rounds.push({ subjectUs, baselineUs });
  }
  return {
    subjectUs: median(rounds.map(({ subjectUs }) => subjectUs)),
    baselineUs: median(rounds.map(({ baselineUs }) => baselineUs)),
    ratio: median(rounds.map(({ subjectUs, baselineUs }) => subjectUs / baselineUs)),
  };
}

async function timeOf(work: Work, time: number, batch: number): Promise<number> {
  const bench = new Bench({ time, iterations: 5, warmup: false, throws: true });
  bench.add('work', async () => {
    for (let call = 0; call < batch; call++) await work();
  });
  const [{ result }] = await bench.run();
  if (result.state !== 'completed') throw new Error(`The measurement ended as ${result.state}`);
  return (result.latency.p50 * 1000) / batch;
}

export const median = (values: readonly number[]): number => quantile(values, 0.5);

export const quantile = (values: readonly number[], part: number): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length * part)];
