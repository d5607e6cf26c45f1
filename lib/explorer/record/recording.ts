import type { EntryResult } from '../../interceptors/chain/result.js';
import type { SinkEnd } from '../../interceptors/chain/params.js';
import type { ChainReport, SinkRun } from '../../interceptors/reports.js';
import type { McpCall } from '../../protocol/mcp-call.js';
import type { TurnMessage } from '../../protocol/traffic-listener.js';

/** One run of a chain, with the payload that it was given. */
export interface RecordedRun extends ChainReport {
  /** Undefined if nothing but sinks or skipped interceptors were due. */
  readonly received: unknown;
}

/** One run of a sink; `end` is undefined while it runs. */
export interface RecordedSink extends SinkRun {
  end?: SinkEnd;
}

/** The most runs that are kept: a call can have hundreds of notifications. */
const MAX_RUNS = 200;

/** The course of one request of the explorer. */
export class Recording {
  /** The requests as the server saw them. */
  readonly calls: McpCall[] = [];
  readonly runs: RecordedRun[] = [];
  readonly sinks: RecordedSink[] = [];
  private openSinks = 0;
  /** Messages of which no report has come, with how many turns run now. */
  private readonly open = new Map<TurnMessage, number>();
  private onIdle = (): void => undefined;

  /** Records one run of an interceptor. @returns a function for its end */
  began(message: TurnMessage): () => void {
    this.open.set(message, (this.open.get(message) ?? 0) + 1);
    return () => {
      const left = this.open.get(message);
      if (left !== undefined) this.open.set(message, left - 1);
      if (this.isIdle) this.onIdle();
    };
  }

  /** Records one run of a sink. @returns a function for its end */
  sinkBegan(run: SinkRun): (end: SinkEnd) => void {
    const sink: RecordedSink = { ...run };
    if (this.sinks.length < MAX_RUNS) this.sinks.push(sink);
    this.openSinks += 1;
    return end => {
      sink.end = end;
      this.openSinks -= 1;
      if (this.isIdle) this.onIdle();
    };
  }

  ended(report: ChainReport): void {
    const { event, phase } = report.result;
    const message = [...this.open.keys()].find(one => one.event === event && one.phase === phase);
    if (message) this.open.delete(message);
    if (this.runs.length < MAX_RUNS) this.runs.push({ ...report, received: message?.payload });
  }

  /** Resolves once no interceptor runs, or the time is up: calls do not wait for audit interceptors and sinks. */
  async idle(timeoutMs: number): Promise<void> {
    if (!this.isIdle) {
      await new Promise<void>(resolve => {
        const timer = setTimeout(resolve, timeoutMs);
        this.onIdle = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    // A chain reports right after its last turn.
    await new Promise(resolve => setImmediate(resolve));
  }

  private get isIdle(): boolean {
    return this.openSinks === 0 && [...this.open.values()].every(count => count === 0);
  }
}

/** Each change of a run, in its order: the payload before and after a mutator. */
export function changesOf({ result, received }: RecordedRun): ReadonlyMap<EntryResult, [unknown, unknown]> {
  const changes = new Map<EntryResult, [unknown, unknown]>();
  let payload = received;
  for (const entry of result.results) {
    if (!entry.modified) continue;
    changes.set(entry, [payload, entry.payload]);
    if (entry.mode !== 'audit') payload = entry.payload;
  }
  return changes;
}
