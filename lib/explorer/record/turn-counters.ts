import type { SinkEnd } from '../../interceptors/chain/params.js';
import type { ChainReport, SinkRun } from '../../interceptors/reports.js';
import type { Counters } from '../api.js';
import { Ring } from './ring.js';

/** The most interceptors that are counted: remote hosts choose names. */
const MAX_INTERCEPTORS = 1000;

/** The number of latest runs for the percentiles. */
const MAX_DURATIONS = 512;

type Counts = Record<string, number>;

interface Turns {
  runs: number;
  readonly outcomes: Counts;
  /** Counters of audit mode. */
  readonly audited: Counts;
  readonly skipped: Counts;
  failedOpen: number;
  readonly durations: Ring<number>;
}

/** Counts what became of each interceptor, from the reports of all chains. */
export class TurnCounters {
  private readonly counted = new Map<string, Turns>();

  /** Told of each run of a chain. It keeps nothing of the message. */
  readonly report = ({ server = '', result }: ChainReport): void => {
    let denied: Set<Turns> | undefined;
    for (const { host, interceptor, outcome, mode, failedOpen, final, durationMs } of result.results) {
      const turns = this.turnsOf(server, host, interceptor);
      if (!turns) continue;
      turns.runs += 1;
      add(turns.outcomes, outcome);
      turns.durations.push(durationMs);
      if (failedOpen) turns.failedOpen += 1;
      if (mode !== 'audit') continue;
      // A final validator can object twice to one message.
      if (!(final && denied?.has(turns))) add(turns.audited, outcome);
      if (outcome === 'deny') (denied ??= new Set()).add(turns);
    }
    for (const { host, interceptor, reason } of result.skipped) {
      const turns = this.turnsOf(server, host, interceptor);
      if (turns) add(turns.skipped, reason);
    }
  };

  readonly sink =
    ({ server, host, interceptor }: SinkRun) =>
    (end: SinkEnd): void => {
      const turns = this.turnsOf(server, host, interceptor);
      if (!turns) return;
      if (end.outcome === 'skipped') return add(turns.skipped, 'when');
      turns.runs += 1;
      add(turns.outcomes, end.outcome);
      turns.durations.push(end.durationMs);
    };

  /** @param failOpen whether messages pass if the interceptor fails */
  of(server: string, { host, name, failOpen }: { host: string; name: string; failOpen: boolean }): Counters {
    const turns = this.counted.get(keyOf(server, host, name)) ?? newTurns();
    const { runs, outcomes, audited, skipped, failedOpen, durations } = turns;
    const { deny = 0, crash = 0, timeout = 0, mutated = 0, responded = 0 } = audited;
    const sorted = durations.latest().sort((a, b) => a - b);
    const percentile = (share: number) => sorted[Math.ceil(share * sorted.length) - 1];
    return {
      runs,
      outcomes: { ...outcomes },
      skipped: { ...skipped },
      failedOpen,
      ...(sorted.length > 0 && { p50: percentile(0.5), p99: percentile(0.99) }),
      wouldRefuse: deny + (failOpen ? 0 : crash + timeout),
      wouldChange: mutated + responded,
    };
  }

  private turnsOf(server: string, host: string, name: string): Turns | undefined {
    const key = keyOf(server, host, name);
    const known = this.counted.get(key);
    if (known || this.counted.size >= MAX_INTERCEPTORS) return known;
    const turns = newTurns();
    this.counted.set(key, turns);
    return turns;
  }
}

const keyOf = (server: string, host: string, name: string): string => `${server}\n${host}\n${name}`;

const newTurns = (): Turns => ({
  runs: 0,
  outcomes: {},
  audited: {},
  skipped: {},
  failedOpen: 0,
  durations: new Ring(MAX_DURATIONS),
});

function add(counts: Counts, key: string): void {
  counts[key] = (counts[key] ?? 0) + 1;
}
