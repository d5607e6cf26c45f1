import { inspect } from 'node:util';
import { Injectable, Logger } from '@nestjs/common';
import { type Observable, Subject } from 'rxjs';
import { messageOf } from '../util/message-of.js';
import type { PreparedEntry } from './chain/entry.js';
import { frozenReport } from './chain/frozen.js';
import type { SinkEnd, SinkMessage } from './chain/params.js';
import type { ChainResult, EntryResult } from './chain/result.js';
import { logLine, RareLines } from '../util/log-line.js';
import { isNotificationEvent } from './protocol/events.js';
import type { Direction, InvocationContext } from './protocol/types.js';

/** One run of a chain, with its server and direction. */
export interface ChainReport {
  /** Name of the server whose traffic it was; undefined for a run by the application. */
  readonly server?: string;
  readonly direction: Direction;
  readonly result: ChainResult;
  /** The caller, session and trace, if they are known. */
  readonly context?: InvocationContext;
}

/** One run of a sink. */
export interface SinkRun extends SinkMessage {
  readonly server: string;
  readonly host: string;
  readonly interceptor: string;
}

export interface ReportListener {
  /** Receives each report at once, without a copy. It must not change or keep the report. */
  readonly report: (report: ChainReport) => void;
  /** Called when a sink begins. @returns a function for its end */
  readonly sink: (run: SinkRun) => (end: SinkEnd) => void;
}

/** The number of outcomes of each interceptor, by outcome: `counters['pii-redactor']['mutated']`. */
export type InterceptorCounters = Readonly<Record<string, Readonly<Record<string, number>>>>;

/** How often an interceptor had an outcome. */
export interface InterceptorCount {
  /** Undefined for runs by the application. */
  readonly server?: string;
  readonly interceptor: string;
  readonly outcome: string;
  readonly count: number;
}

/** Maximum names with their own counters. Remote hosts choose names, and may choose new names each time. */
const MAX_NAMES = 10_000;
const OTHER = 'other';
/** Stands for runs without a server. */
const UNNAMED = '';

const QUIET: ReadonlySet<EntryResult['outcome']> = new Set(['pass', 'unmodified', 'mutated', 'responded']);

type Level = 'error' | 'warn' | 'log' | 'debug';

@Injectable()
export class InterceptorReports {
  private readonly subject = new Subject<ChainReport>();
  /** By server, then by interceptor. */
  private readonly counts = new Map<string, Map<string, Record<string, number>>>();
  private names = 0;
  private readonly rare = new RareLines();

  readonly listeners: ReportListener[] = [];
  readonly reports$: Observable<ChainReport> = this.subject.asObservable();

  publish(report: ChainReport): void {
    const { server, result } = report;
    for (const entry of result.results) {
      const { interceptor } = entry;
      this.count(server, interceptor, entry.mode === 'audit' ? `audit-${entry.outcome}` : entry.outcome);
      if (entry.failedOpen) this.count(server, interceptor, 'failed-open');
      if (!QUIET.has(entry.outcome) || entry.mode === 'audit') this.log(entry, report);
    }
    for (const { interceptor, reason } of result.skipped) {
      this.count(server, interceptor, `skipped-${reason}`);
      const text = `${interceptor} was skipped for ${result.event} ${result.phase}: ${reason}`;
      this.write(server, 'debug', text, `${interceptor} ${reason}`, result.event);
    }
    for (const listener of this.listeners) listener.report(report);
    // Subscribers get a frozen copy, so that they cannot change the decision.
    if (this.subject.observed) this.subject.next(frozenReport(report));
  }

  /** @returns a function for the end of the sink's run */
  sinkBegan(
    server: string,
    { host, name }: Pick<PreparedEntry, 'host' | 'name'>,
    { event, phase }: SinkMessage,
  ): (end: SinkEnd) => void {
    const ends = this.listeners.map(({ sink }) => sink({ server, host, interceptor: name, event, phase }));
    return end => {
      this.count(server, name, end.outcome === 'skipped' ? 'skipped-when' : end.outcome);
      for (const ended of ends) ended(end);
      if (!('error' in end)) return;
      this.write(server, 'warn', `The sink ${name} failed: ${end.error}`, `${name} ${end.outcome}`, '', true);
    };
  }

  undiscovered(error: unknown, event = '', server?: string): void {
    this.write(server, 'error', messageOf(error), 'undiscovered', event);
  }

  /** The counters of all servers together. */
  counters(): InterceptorCounters {
    const sums = new Map<string, Record<string, number>>();
    for (const { interceptor, outcome, count } of this.counted()) {
      const counts = sums.get(interceptor) ?? {};
      counts[outcome] = (counts[outcome] ?? 0) + count;
      sums.set(interceptor, counts);
    }
    return Object.fromEntries(sums);
  }

  *counted(): Generator<InterceptorCount> {
    for (const [server, interceptors] of this.counts) {
      for (const [interceptor, counts] of interceptors) {
        for (const [outcome, count] of Object.entries(counts)) {
          yield { ...(server !== UNNAMED && { server }), interceptor, outcome, count };
        }
      }
    }
  }

  private count(server = UNNAMED, interceptor: string, outcome: string): void {
    const counts = this.counts.get(server)?.get(interceptor) ?? this.countsOf(server, interceptor);
    counts[outcome] = (counts[outcome] ?? 0) + 1;
  }

  private countsOf(server: string, unknown: string): Record<string, number> {
    const interceptors = this.counts.get(server) ?? new Map<string, Record<string, number>>();
    this.counts.set(server, interceptors);
    const name = this.names < MAX_NAMES ? unknown : OTHER;
    const counts = interceptors.get(name) ?? {};
    if (!interceptors.has(name)) this.names += 1;
    interceptors.set(name, counts);
    return counts;
  }

  private log(entry: EntryResult, { server, result }: ChainReport): void {
    const { event, phase, status } = result;
    const { interceptor, outcome, mode, error, failedOpen } = entry;
    const isFailure = outcome === 'crash' || outcome === 'timeout';
    const isAudit = mode === 'audit';
    const subject = `${isAudit ? '[audit] ' : ''}${interceptor}, ${event} ${phase}`;
    // A refused request has an answer, but only the log reports a refused notification.
    const end = isNotificationEvent(event) && status !== 'success' ? '; the message was dropped' : '';
    const write = (level: Level, text: string) =>
      this.write(server, level, `${subject}: ${text}${end}`, `${interceptor} ${outcome}`, event, isFailure);
    if (isFailure) {
      write(
        isAudit ? 'warn' : 'error',
        `${outcome}${failedOpen ? ', let through (failOpen)' : ''}: ${error}`,
      );
    } else if (outcome === 'dropped') write('warn', `a mutation was dropped: ${error}`);
    else if (isAudit && outcome === 'mutated') write('log', `would change ${textOf(entry.diff)}`);
    else if (outcome === 'deny' || outcome === 'warn') {
      const said = (entry.messages ?? []).map(({ path, message }) =>
        path ? `${path}: ${message}` : message,
      );
      const verb = outcome === 'warn' ? 'warned' : isAudit ? 'would deny' : 'denied';
      write('log', `${verb}: ${said.join('; ')}`);
    }
  }

  /**
   * Writes a log line in the context of the server. For notifications and failures, which can repeat with each message, one line of a kind is
   * written a minute, with the number of lines that were left out.
   */
  private write(
    server: string | undefined,
    level: Level,
    text: string,
    kind: string,
    event: string,
    isRare = false,
  ): void {
    const isLimited = isRare || isNotificationEvent(event);
    const line = isLimited ? this.rare.line(`${server} ${kind} ${event}`, text) : text;
    if (line === undefined) return;
    new Logger(server ? `McpInterceptors(${server})` : 'McpInterceptors')[level](logLine(line));
  }
}

/** As JSON, unless the payload holds a value that JSON cannot represent. */
function textOf(diff: EntryResult['diff']): string {
  try {
    return JSON.stringify(diff);
  } catch {
    return inspect(diff, { depth: 10, breakLength: Infinity });
  }
}
