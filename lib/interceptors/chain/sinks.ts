import { DeadlineWatch } from './deadline.js';
import type { PreparedEntry } from './entry.js';
import { frozenReport } from './frozen.js';
import { invokeEntry, type RunContext } from './invoke-entry.js';
import type { ChainOptions } from './params.js';
import type { ChainResult } from './result.js';

interface Fed extends Pick<ChainOptions, 'onSinkError'> {
  readonly context: RunContext;
  readonly payload: unknown;
  readonly result: ChainResult;
}

/** Feeds sinks the payload and a report that they cannot change. Nobody waits for a sink, and its time is its own. */
export function feedSinks(
  sinks: readonly PreparedEntry[],
  { context, payload, result, onSinkError }: Fed,
): void {
  const watch = new DeadlineWatch(context.clock);
  const own: RunContext = { ...context, watch, deadline: Infinity, report: frozenReport(result) };
  for (const entry of sinks) {
    const told = async () => {
      const invoked = await invokeEntry(own, entry, payload);
      if (invoked.kind === 'failed') onSinkError?.(entry, invoked.error);
    };
    // `onSinkError` may fail, too; the other sinks go on.
    told().catch(() => undefined);
  }
}
