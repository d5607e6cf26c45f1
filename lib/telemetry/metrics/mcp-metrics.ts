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
import { ROUND_BOUNDS } from '../conventions.js';
import { Histogram, type HistogramSnapshot } from './histogram.js';
import { Operations, type McpOperation } from './operations.js';
import { TaskDurations, type McpTaskNumbers } from './task-durations.js';

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
  private readonly tasks = new TaskDurations();

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
      tasks: this.tasks.snapshot(),
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
  recordTask(task: EndedTask, { name }: TrafficPoint): void {
    this.tasks.record(name, task);
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
