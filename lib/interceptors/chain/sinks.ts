import { attempt, type RunContext } from './attempt.js';
import type { Clock } from './clock.js';
import { DeadlineWatch } from './deadline.js';
import type { PreparedEntry } from './entry.js';
import { frozenReport } from './frozen.js';
import type { ChainOptions } from './params.js';
import type { ChainResult } from './result.js';

interface Fed extends Pick<ChainOptions, 'onSinkError'> {
  readonly context: RunContext;
  readonly payload: unknown;
  readonly result: ChainResult;
  readonly clock: Clock;
}

/**
 * Feeds sinks the payload as it went on or, where it did not, as it came, and a report that they cannot change. Nobody
 * waits for them, and their time is their own.
 */
export function feedSinks(
  sinks: readonly PreparedEntry[],
  { context, payload, result, clock, onSinkError }: Fed,
): void {
  const watch = new DeadlineWatch(clock);
  const own: RunContext = { ...context, watch, deadline: Infinity, report: frozenReport(result) };
  const fed = sinks.map(async entry => {
    const outcome = await attempt(own, entry, payload);
    if (outcome.kind === 'failed') onSinkError?.(entry, outcome.error);
  });
  // Whoever is told of failures may fail, too; the other sinks go on.
  void Promise.allSettled(fed).then(() => watch.close());
}
