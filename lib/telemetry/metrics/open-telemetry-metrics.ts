import type { BatchObservableResult, Histogram, Meter, MetricOptions, Observable } from '@opentelemetry/api';
import type {
  EndedConnection,
  EndedTask,
  TrafficPoint,
  TrafficRequest,
} from '../../protocol/traffic-listener.js';
import {
  ATTR,
  DURATION_BOUNDS,
  EXECUTE_TOOL,
  KNOWN_VERSIONS,
  METRIC,
  OWN,
  ROUND_BOUNDS,
  TASK_BOUNDS,
} from '../conventions.js';
import type { Ending } from '../ending.js';
import { networkOf, serverOf, type Attributes } from '../peer.js';
import { BREAKER_STATES, type McpMetrics } from './mcp-metrics.js';
import type { OperationKey } from './operations.js';

const OPEN: Readonly<Record<keyof typeof METRIC.open, MetricOptions>> = {
  calls: { description: 'Calls that run' },
  hanging: { description: 'Calls whose handlers run after their end' },
  sessions: { description: 'Sessions of 2025 clients' },
  listeners: { description: 'Streams on which clients listen' },
  inputRequests: { description: 'Input requests that 2025 clients have not answered' },
  responses: { description: 'HTTP responses that are not complete' },
  eventStore: { description: 'Characters in the event store in memory', unit: '{character}' },
  tasks: { description: 'Tasks that are kept' },
  runningTasks: { description: 'Tasks whose handlers run' },
};

/** Exports the numbers of `McpMetrics` through OpenTelemetry. */
export class OpenTelemetryMetrics {
  private readonly operations: Readonly<Record<TrafficPoint['side'], Histogram>>;
  private readonly sessions: Readonly<Record<TrafficPoint['side'], Histogram>>;
  private readonly rounds: Histogram;
  private readonly tasks: Histogram;
  private readonly observables: Observable[];
  private readonly observe: (result: BatchObservableResult) => void;

  constructor(
    private readonly meter: Meter,
    numbers: McpMetrics,
  ) {
    const seconds = (name: string, description: string) =>
      meter.createHistogram(name, {
        unit: 's',
        description,
        advice: { explicitBucketBoundaries: DURATION_BOUNDS },
      });
    this.operations = {
      server: seconds(METRIC.serverOperation, 'Duration of requests that this process answered'),
      client: seconds(METRIC.clientOperation, 'Duration of requests that this process sent'),
    };
    this.sessions = {
      server: seconds(METRIC.serverSession, 'Duration of sessions with clients'),
      client: seconds(METRIC.clientSession, 'Duration of sessions with servers'),
    };
    this.rounds = meter.createHistogram(METRIC.rounds, {
      unit: '{round}',
      description: 'Rounds of calls that took more than one',
      advice: { explicitBucketBoundaries: ROUND_BOUNDS },
    });
    this.tasks = meter.createHistogram(METRIC.task, {
      unit: 's',
      description: 'Duration of tasks, from their creation to their end',
      advice: { explicitBucketBoundaries: TASK_BOUNDS },
    });
    const open = Object.entries(OPEN).map(
      ([name, options]) =>
        [name, meter.createObservableGauge(METRIC.open[name as keyof typeof OPEN], options)] as const,
    );
    const breaker = meter.createObservableGauge(METRIC.breaker, {
      description: 'Circuit breaker of an interceptor host: 0 closed, 1 half-open, 2 open',
    });
    const refusals = meter.createObservableCounter(METRIC.refusals, {
      description: 'Refused requests, by the limit or the HTTP status that refused them',
    });
    const outcomes = meter.createObservableCounter(METRIC.interceptors, {
      description: 'Outcomes of interceptors',
    });
    this.observables = [...open.map(([, gauge]) => gauge), breaker, refusals, outcomes];
    this.observe = result => {
      const { servers } = numbers.snapshot();
      for (const [server, { open: now, refusals: refused }] of Object.entries(servers)) {
        for (const [name, gauge] of open) {
          if (now[name] !== undefined) result.observe(gauge, now[name], { [OWN.peer]: server });
        }
        for (const [reason, count] of Object.entries(refused)) {
          result.observe(refusals, count, { [OWN.peer]: server, [OWN.reason]: reason });
        }
      }
      for (const { server, interceptor, outcome, count } of numbers.interceptorCounts()) {
        result.observe(outcomes, count, {
          ...nameOf(server),
          [OWN.interceptor]: interceptor,
          [OWN.outcome]: outcome,
        });
      }
      for (const { server, name, breakerState } of numbers.interceptorHosts) {
        result.observe(breaker, BREAKER_STATES.indexOf(breakerState), {
          ...nameOf(server),
          [OWN.host]: name,
        });
      }
    };
    meter.addBatchObservableCallback(this.observe, this.observables);
  }

  record(
    { method, tool, prompt, errorType }: OperationKey,
    { statusCode }: Ending,
    request: TrafficRequest,
    point: TrafficPoint,
    durationMs: number,
    version: string | undefined,
  ): void {
    const { side } = point;
    this.operations[side].record(durationMs / 1000, {
      [ATTR.method]: method,
      ...(tool !== undefined && { [ATTR.toolName]: tool }),
      ...(method === 'tools/call' && { [ATTR.operation]: EXECUTE_TOOL }),
      ...(prompt !== undefined && { [ATTR.promptName]: prompt }),
      ...(errorType !== undefined && { [ATTR.errorType]: errorType }),
      ...(statusCode !== undefined && { [ATTR.statusCode]: statusCode }),
      ...knownVersion(version),
      ...networkOf(request, point),
      ...(side === 'client' && serverOf(point)),
      ...nameOf(point.name),
    });
  }

  recordRounds(count: number): void {
    this.rounds.record(count);
  }

  recordTask({ tool, status, durationMs }: EndedTask, { name }: TrafficPoint): void {
    this.tasks.record(durationMs / 1000, {
      [ATTR.toolName]: tool,
      [OWN.taskStatus]: status,
      [OWN.peer]: name,
    });
  }

  disconnected({ durationMs, protocolVersion, isHttp }: EndedConnection, point: TrafficPoint): void {
    this.sessions[point.side].record(durationMs / 1000, {
      ...knownVersion(protocolVersion),
      [ATTR.transport]: isHttp ? 'tcp' : 'pipe',
      ...(isHttp && { [ATTR.protocolName]: 'http' }),
      ...(point.side === 'client' && serverOf(point)),
      ...nameOf(point.name),
    });
  }

  close(): void {
    this.meter.removeBatchObservableCallback(this.observe, this.observables);
  }
}

/** Name of the server or connection of this application. */
const nameOf = (name: string | undefined): Attributes => (name === undefined ? {} : { [OWN.peer]: name });

/** A caller can name any revision, so only known ones are exported. */
const knownVersion = (version: string | undefined): Attributes =>
  version !== undefined && KNOWN_VERSIONS.has(version) ? { [ATTR.protocolVersion]: version } : {};
