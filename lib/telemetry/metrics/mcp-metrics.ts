import { Injectable } from '@nestjs/common';
import { InterceptorReports, type InterceptorCounters } from '../../interceptors/reports.js';
import { InterceptorLoader } from '../../server/interceptor-loader.js';
import type { McpServerInstance } from '../../server/mcp-server-instance.js';
import { McpServers } from '../../server/mcp-servers.js';
import { DURATION_BOUNDS, OTHER, ROUND_BOUNDS } from '../conventions.js';
import { Histogram, type HistogramSnapshot } from './histogram.js';

/** Requests with the same method, name and outcome. */
export interface McpOperation {
  /** Whether the requests came in (`server`), or went out (`client`). */
  readonly side: 'server' | 'client';
  /** Name of the server, of the client, of the gateway's backend, or of the interceptor host. */
  readonly name: string;
  readonly method: string;
  /** Only of a tool that exists. */
  readonly tool?: string;
  /** Only of a prompt that exists. */
  readonly prompt?: string;
  /** `error.type` of the conventions. Undefined if the requests succeeded. */
  readonly errorType?: string;
  /** In seconds. */
  readonly duration: HistogramSnapshot;
}

/** The current numbers of one server. */
export interface McpServerNumbers {
  /** Counts of open `calls`, `sessions`, `listeners`, `questions` and `responses`; `eventStore` in characters. */
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
}

export type OperationKey = Omit<McpOperation, 'duration'>;

/** Most operations that are counted separately. */
const MAX_OPERATIONS = 10_000;

/** The numbers of the application's MCP traffic, for code that does not use OpenTelemetry. */
@Injectable()
export class McpMetrics {
  private readonly operations = new Map<string, { key: OperationKey; duration: Histogram }>();
  private readonly rounds = new Histogram(ROUND_BOUNDS);

  /** @internal Nest makes it. */
  constructor(
    private readonly servers: McpServers,
    private readonly reports: InterceptorReports,
    private readonly loader: InterceptorLoader,
  ) {}

  /** A copy of all numbers. */
  snapshot(): McpMetricsSnapshot {
    return {
      operations: [...this.operations.values()].map(({ key, duration }) => ({
        ...key,
        duration: duration.snapshot(),
      })),
      servers: Object.fromEntries(
        this.servers.all().map(server => [server.options.name, numbersOf(server)] as const),
      ),
      interceptors: this.reports.counters(),
      breakers: Object.fromEntries(
        this.loader.remoteHosts.map(({ name, breakerState }) => [name, breakerState] as const),
      ),
      rounds: this.rounds.snapshot(),
    };
  }

  /** @internal */
  record(key: OperationKey, durationMs: number): void {
    this.histogramOf(key).record(durationMs / 1000);
  }

  /** @internal */
  recordRounds(count: number): void {
    this.rounds.record(count);
  }

  private histogramOf(key: OperationKey): Histogram {
    const { side, name, method, tool = '', prompt = '', errorType = '' } = key;
    const id = `${side} ${name} ${method} ${errorType} ${tool} ${prompt}`;
    const known = this.operations.get(id);
    if (known) return known.duration;
    if (this.operations.size >= MAX_OPERATIONS && method !== OTHER) {
      return this.histogramOf({ side, name, method: OTHER });
    }
    const duration = new Histogram(DURATION_BOUNDS);
    this.operations.set(id, { key, duration });
    return duration;
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
