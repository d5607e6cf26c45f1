import type { EndedTask } from '../../protocol/traffic-listener.js';
import { TASK_BOUNDS } from '../conventions.js';
import { Histogram, type HistogramSnapshot } from './histogram.js';

/** The tasks of one tool that this process has ended with one status. */
export interface McpTaskNumbers {
  readonly server: string;
  readonly tool: string;
  /** `completed`, `failed` or `cancelled`. */
  readonly status: string;
  /** From the creation of the task to its end, in seconds. */
  readonly duration: HistogramSnapshot;
}

/** The durations of ended tasks. Only tools of the application have tasks, so callers cannot add series. */
export class TaskDurations {
  private readonly known = new Map<string, Omit<McpTaskNumbers, 'duration'> & { duration: Histogram }>();

  record(server: string, { tool, status, durationMs }: EndedTask): void {
    const key = JSON.stringify([server, tool, status]);
    const series = this.known.get(key) ?? { server, tool, status, duration: new Histogram(TASK_BOUNDS) };
    this.known.set(key, series);
    series.duration.record(durationMs / 1000);
  }

  snapshot(): McpTaskNumbers[] {
    return [...this.known.values()].map(one => ({ ...one, duration: one.duration.snapshot() }));
  }
}
