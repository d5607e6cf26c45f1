import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import type { ChainReport, ReportListener } from '../../interceptors/reports.js';
import type { McpCall } from '../../protocol/mcp-call.js';
import type {
  ObserveTurn,
  Observing,
  TrafficListener,
  TrafficPoint,
  TrafficRequest,
} from '../../protocol/traffic-listener.js';
import { LiveCalls } from './live-calls.js';
import { Recording } from './recording.js';
import { TurnCounters } from './turn-counters.js';

/** Names the recording that a request of the explorer belongs to. Other clients do not know such a name. */
const RECORDING_HEADER = 'mcp-explorer-recording';

/** The context of a call: a timer that the call began keeps it, and the recording only until it ends. */
interface Current {
  recording?: Recording;
}

/** Observes all requests for the live view, and records the requests of the explorer. */
export class Recorder implements TrafficListener, ReportListener {
  readonly live = new LiveCalls();
  readonly counters = new TurnCounters();
  private readonly current = new AsyncLocalStorage<Current>();
  private readonly recordings = new Map<string, Current>();
  private readonly ownName = randomUUID();
  /** Headers of the requests of the explorer that are not recorded. */
  readonly headers: Readonly<Record<string, string>> = { [RECORDING_HEADER]: this.ownName };

  begin(request: TrafficRequest, point: TrafficPoint): Observing {
    const name = request.http?.headers[RECORDING_HEADER];
    const current = typeof name === 'string' ? this.recordings.get(name) : undefined;
    const isOwn = current !== undefined || name === this.ownName || this.current.getStore() !== undefined;
    const end: Observing['end'] = (outcome, durationMs) =>
      this.live.add(request, point, outcome, durationMs, isOwn);
    if (!current) return { end };
    current.recording?.calls.push(request as McpCall);
    return { end, run: work => this.current.run(current, work) };
  }

  readonly turn: ObserveTurn = (_turn, message) => {
    const end = this.current.getStore()?.recording?.began(message);
    return end && { run: work => work(), end };
  };

  readonly report = (report: ChainReport): void => {
    this.counters.report(report);
    this.current.getStore()?.recording?.ended(report);
  };

  readonly sink: ReportListener['sink'] = run => {
    const count = this.counters.sink(run);
    const record = this.current.getStore()?.recording?.sinkBegan(run);
    return end => {
      count(end);
      record?.(end);
    };
  };

  /**
   * Records what becomes of the requests with a header.
   * @param work sends them
   * @param idleMs how long interceptors may still run after it, in milliseconds
   */
  async record<T>(
    work: (headers: Record<string, string>) => Promise<T>,
    idleMs = 0,
  ): Promise<{ value: T; recording: Recording }> {
    const name = randomUUID();
    const recording = new Recording();
    const current: Current = { recording };
    this.recordings.set(name, current);
    try {
      const value = await work({ [RECORDING_HEADER]: name });
      if (idleMs > 0) await recording.idle(idleMs);
      return { value, recording };
    } finally {
      delete current.recording;
      this.recordings.delete(name);
    }
  }

  /** Records a call that comes from no transport. */
  recordCall<T>(call: McpCall, work: () => Promise<T>): Promise<{ value: T; recording: Recording }> {
    return this.record(headers => {
      const current = this.recordings.get(headers[RECORDING_HEADER])!;
      current.recording?.calls.push(call);
      return this.current.run(current, work);
    });
  }
}
