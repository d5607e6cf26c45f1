import { Injectable } from '@nestjs/common';
import type { RemoteHost } from '../../interceptors/remote/remote-host.js';
import {
  InterceptorReports,
  type InterceptorCount,
  type InterceptorCounters,
} from '../../interceptors/reports.js';
import { InterceptorLoader } from '../../module/interceptor-loader.js';
import type { McpServerInstance } from '../../server/mcp-server-instance.js';
import { McpServers } from '../../module/mcp-servers.js';
import type { EndedTask, TrafficPoint } from '../../protocol/traffic-listener.js';
import { ROUND_BOUNDS, TASK_BOUNDS } from '../conventions.js';
import { Histogram, type HistogramSnapshot } from './histogram.js';
import { Operations, type McpOperation } from './operations.js';

/** From good to bad: the number of a state in the metric. */
export const BREAKER_STATES = ['closed', 'half-open', 'open'] as const;

/** The current numbers of one server. */
export interface McpServerNumbers {
  /**
   * Counts of open `calls`, `sessions`, `listeners`, `inputRequests` and `responses`, of kept `tasks` and `runningTasks`, and of
   * `hanging` calls, whose handlers do not end; `eventStore` in characters.
   */
  readonly open: Readonly<Record<string, number>>;
  /** Refusals since the start, by reason: a limit (`calls.caller`), or an HTTP status (`http.403`). */
  readonly refusals: Readonly<Record<string, number>>;
}

/** The tasks of one tool that this process has ended with one status. */
export interface McpTaskNumbers {
  readonly server: string;
  readonly tool: string;
  /** `completed`, `failed` or `cancelled`. */
  readonly status: string;
  /** From the creation of the task to its end, in seconds. */
  readonly duration: HistogramSnapshot;
}

/** The numbers since the application started. */
export interface McpMetricsSnapshot {
  readonly operations: readonly McpOperation[];
  readonly servers: Readonly<Record<string, McpServerNumbers>>;
  /** Counts of outcomes, by interceptor. */
  readonly interceptors: InterceptorCounters;
  /** State of the circuit breaker of each host of `interceptors.servers`. */
  readonly breakers: Readonly<Record<string, 'closed' | 'open' | 'half-open'>>;
  /** Rounds of the calls that took more than one. */
  readonly rounds: HistogramSnapshot;
  readonly tasks: readonly McpTaskNumbers[];
}

/**
 * The numbers of the application's MCP traffic, for code that does not use OpenTelemetry.
 * @example
 * ```ts
 * constructor(private readonly metrics: McpMetrics) {}
 *
 * openCalls() {
 *   return this.metrics.snapshot().servers['shop'].open['calls'];
 * }
 * ```
 */
@Injectable()
export class McpMetrics {
  private readonly operations = new Map<string, Operations>();
  private readonly total = { count: 0 };
  private readonly rounds = new Histogram(ROUND_BOUNDS);
  /** By server, tool and status. Only tools of the application have tasks, so callers cannot add series. */
  private readonly tasks = new Map<string, Omit<McpTaskNumbers, 'duration'> & { duration: Histogram }>();

  /** @internal Nest makes it. */
  constructor(
    private readonly servers: McpServers,
    private readonly reports: InterceptorReports,
    private readonly loader: InterceptorLoader,
  ) {}

  /** A copy of all numbers. */
  snapshot(): McpMetricsSnapshot {
    return {
      operations: [...this.operations.values()].flatMap(operations => operations.snapshot()),
      servers: Object.fromEntries(
        this.servers.all().map(server => [server.options.name, numbersOf(server)] as const),
      ),
      interceptors: this.reports.counters(),
      breakers: Object.fromEntries(
        // Two servers may have hosts of one name: the worse state counts.
        BREAKER_STATES.flatMap(state =>
          this.loader.remoteHosts
            .filter(({ breakerState }) => breakerState === state)
            .map(({ name }) => [name, state] as const),
        ),
      ),
      rounds: this.rounds.snapshot(),
      tasks: [...this.tasks.values()].map(one => ({ ...one, duration: one.duration.snapshot() })),
    };
  }

  /** @internal The outcomes of each interceptor, by server. */
  interceptorCounts(): Iterable<InterceptorCount> {
    return this.reports.counted();
  }

  /** @internal The interceptor hosts of all servers. */
  get interceptorHosts(): readonly Pick<RemoteHost, 'name' | 'server' | 'breakerState'>[] {
    return this.loader.remoteHosts;
  }

  /** @internal The operations of a place; places of one name have the same. */
  operationsOf({ side, name }: Pick<TrafficPoint, 'side' | 'name'>): Operations {
    const key = `${side} ${name}`;
    const operations = this.operations.get(key) ?? new Operations({ side, name }, this.total);
    this.operations.set(key, operations);
    return operations;
  }

  /** @internal */
  recordTask({ tool, status, durationMs }: EndedTask, { name: server }: TrafficPoint): void {
    const key = JSON.stringify([server, tool, status]);
    const series = this.tasks.get(key) ?? { server, tool, status, duration: new Histogram(TASK_BOUNDS) };
    this.tasks.set(key, series);
    series.duration.record(durationMs / 1000);
  }

  /** @internal */
  recordRounds(count: number): void {
    this.rounds.record(count);
  }
}

function numbersOf({ limits, gauges, refusals }: McpServerInstance): McpServerNumbers {
  const refused: [string, number][] = [];
  for (const [name, limit] of Object.entries(limits)) {
    refused.push([`${name}.caller`, limit.refusals.caller], [`${name}.server`, limit.refusals.server]);
  }
  for (const [status, count] of refusals) refused.push([`http.${status}`, count]);
  return {
    open: {
      ...Object.fromEntries(Object.entries(limits).map(([name, { size }]) => [name, size])),
      ...Object.fromEntries(Object.entries(gauges).map(([name, read]) => [name, read()])),
    },
    refusals: Object.fromEntries(refused.filter(([, count]) => count > 0)),
  };
}
