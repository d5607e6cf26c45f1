import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import type { ChainReport } from '../../interceptors/reports.js';
import type { McpCall } from '../../protocol/mcp-call.js';
import type {
  ObserveTurn,
  Observing,
  TrafficListener,
  TrafficPoint,
  TrafficRequest,
} from '../../protocol/traffic.js';
import { LiveCalls } from './live-calls.js';
import { Recording } from './recording.js';
import { TurnCounters } from './turn-counters.js';

/** Names the recording that a request of the explorer belongs to. Nobody else knows such a name. */
export const RECORDING_HEADER = 'mcp-explorer-recording';

/** Observes all requests for the live view, and records those that the explorer makes itself. */
export class Recorder implements TrafficListener {
  readonly live = new LiveCalls();
  readonly counters = new TurnCounters();
  private readonly current = new AsyncLocalStorage<Recording>();
  private readonly recordings = new Map<string, Recording>();

  begin(request: TrafficRequest, point: TrafficPoint): Observing {
    const recording = this.recordings.size > 0 ? this.recordingOf(request) : undefined;
    recording?.calls.push(request as McpCall);
    return {
      ...(recording && { run: work => this.current.run(recording, work) }),
      end: (outcome, durationMs) => this.live.add(request, point, outcome, durationMs),
    };
  }

  readonly turn: ObserveTurn = (_turn, message) => {
    const end = this.current.getStore()?.began(message);
    return end && { run: work => work(), end };
  };

  /** Told of each run of a chain. */
  readonly report = (report: ChainReport): void => {
    this.counters.report(report);
    this.current.getStore()?.ended(report);
  };

  /**
   * Records what becomes of the requests with a header.
   * @param work sends them
   */
  async record<T>(
    work: (headers: Record<string, string>) => Promise<T>,
  ): Promise<{ value: T; recording: Recording }> {
    const name = randomUUID();
    const recording = new Recording();
    this.recordings.set(name, recording);
    try {
      return { value: await work({ [RECORDING_HEADER]: name }), recording };
    } finally {
      this.recordings.delete(name);
    }
  }

  /** Records a call that comes from no transport. */
  async recordCall<T>(call: McpCall, work: () => Promise<T>): Promise<{ value: T; recording: Recording }> {
    const recording = new Recording();
    recording.calls.push(call);
    return { value: await this.current.run(recording, work), recording };
  }

  private recordingOf({ http }: TrafficRequest): Recording | undefined {
    const name = http?.headers[RECORDING_HEADER];
    return typeof name === 'string' ? this.recordings.get(name) : undefined;
  }
}
