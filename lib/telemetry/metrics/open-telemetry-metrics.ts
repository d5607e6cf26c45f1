import type { BatchObservableResult, Histogram, Meter, Observable } from '@opentelemetry/api';
import type { EndedConnection, TrafficPoint, TrafficRequest } from '../../protocol/traffic.js';
import {
  ATTR,
  DURATION_BOUNDS,
  EXECUTE_TOOL,
  KNOWN_VERSIONS,
  METRIC,
  OWN,
  ROUND_BOUNDS,
} from '../conventions.js';
import type { Ending } from '../ending.js';
import { SCOPE, type OpenTelemetry } from '../open-telemetry.js';
import { networkOf, serverOf, type Attributes } from '../peer.js';
import type { McpMetrics, OperationKey } from './mcp-metrics.js';

const BREAKER_STATES = { closed: 0, 'half-open': 1, open: 2 } as const;

const CHARACTERS = { unit: '{character}' };

/** Exports the numbers of `McpMetrics` through OpenTelemetry. */
export class OpenTelemetryMetrics {
  private readonly operations: Readonly<Record<TrafficPoint['side'], Histogram>>;
  private readonly sessions: Readonly<Record<TrafficPoint['side'], Histogram>>;
  private readonly rounds: Histogram;
  private readonly meter: Meter;
  private readonly observables: Observable[];
  private readonly observe: (result: BatchObservableResult) => void;

  constructor({ metrics }: OpenTelemetry, numbers: McpMetrics) {
    const meter = (this.meter = metrics.getMeter(...SCOPE));
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
    const open = Object.entries(METRIC.open).map(
      ([name, metric]) =>
        [name, meter.createObservableGauge(metric, name === 'eventStore' ? CHARACTERS : {})] as const,
    );
    const breaker = meter.createObservableGauge(METRIC.breaker, {
      description: 'Circuit breaker of an interceptor host: 0 closed, 1 half-open, 2 open',
    });
    const refusals = meter.createObservableCounter(METRIC.refusals);
    const outcomes = meter.createObservableCounter(METRIC.interceptors);
    this.observables = [...open.map(([, gauge]) => gauge), breaker, refusals, outcomes];
    this.observe = result => {
      const { servers, interceptors, breakers } = numbers.snapshot();
      for (const [server, { open: now, refusals: refused }] of Object.entries(servers)) {
        for (const [name, gauge] of open) {
          if (now[name] !== undefined) result.observe(gauge, now[name], { [OWN.peer]: server });
        }
        for (const [reason, count] of Object.entries(refused)) {
          result.observe(refusals, count, { [OWN.peer]: server, [OWN.reason]: reason });
        }
      }
      for (const [name, counts] of Object.entries(interceptors)) {
        for (const [outcome, count] of Object.entries(counts)) {
          result.observe(outcomes, count, { [OWN.interceptor]: name, [OWN.outcome]: outcome });
        }
      }
      for (const [host, state] of Object.entries(breakers)) {
        result.observe(breaker, BREAKER_STATES[state], { [OWN.host]: host });
      }
    };
    meter.addBatchObservableCallback(this.observe, this.observables);
  }

  record(
    { side, method, tool, prompt, errorType }: OperationKey,
    { statusCode }: Ending,
    request: TrafficRequest,
    point: TrafficPoint,
    durationMs: number,
  ): void {
    this.operations[side].record(durationMs / 1000, {
      [ATTR.method]: method,
      ...(tool !== undefined && { [ATTR.toolName]: tool }),
      ...(method === 'tools/call' && { [ATTR.operation]: EXECUTE_TOOL }),
      ...(prompt !== undefined && { [ATTR.promptName]: prompt }),
      ...(errorType !== undefined && { [ATTR.errorType]: errorType }),
      ...(statusCode !== undefined && { [ATTR.statusCode]: statusCode }),
      ...versionOf(request.protocolVersion),
      ...networkOf(request, point),
      ...(side === 'client' && serverOf(point)),
    });
  }

  recordRounds(count: number): void {
    this.rounds.record(count);
  }

  disconnected({ durationMs, protocolVersion, isHttp }: EndedConnection, point: TrafficPoint): void {
    this.sessions[point.side].record(durationMs / 1000, {
      ...versionOf(protocolVersion),
      [ATTR.transport]: isHttp ? 'tcp' : 'pipe',
      ...(isHttp && { [ATTR.protocolName]: 'http' }),
      ...(point.side === 'client' && serverOf(point)),
    });
  }

  close(): void {
    this.meter.removeBatchObservableCallback(this.observe, this.observables);
  }
}

/** A caller can name any revision, so only known ones are exported. */
const versionOf = (version: string | undefined): Attributes =>
  version !== undefined && KNOWN_VERSIONS.has(version) ? { [ATTR.protocolVersion]: version } : {};
