import { MalformedResultError, readMutation, readValidation } from '../protocol/read-result.js';
import type { MutationResult, ValidationResult } from '../protocol/types.js';
import { attempt, type Attempt, type RunContext } from './attempt.js';
import { isCompatible } from './compat.js';
import { DeadlineWatch } from './deadline.js';
import type { PreparedEntry } from './entry.js';
import { frozenCopy, thawedCopy } from './frozen.js';
import type { ChainOptions, ChainParams } from './params.js';
import type { ChainResult, ChainStatus, EntryResult, SkippedEntry } from './result.js';
import { breachOf, diffOf } from './scope.js';
import type { Selection } from './selection.js';
import { SyntheticResponse } from './synthetic.js';

type Failed = Extract<Attempt, { kind: 'failed' }>;
type Options = Required<Omit<ChainOptions, 'onSinkError'>> & Pick<ChainOptions, 'onSinkError'>;

/** Why a run ends before its end. */
class Halt {
  constructor(
    readonly status: Exclude<ChainStatus, 'success'>,
    readonly result: EntryResult,
    readonly reason: string,
  ) {}
}

/** One run of a chain on one message. */
export class ChainRun {
  private readonly context: RunContext;
  private readonly started: number;
  private readonly results: EntryResult[] = [];
  private readonly skipped: SkippedEntry[] = [];
  private givenUp = false;
  private payload: unknown;
  private modified = false;
  private response: ChainResult['response'];

  constructor(
    private readonly selection: Selection,
    private readonly params: ChainParams,
    private readonly options: Options,
  ) {
    const { clock, defaultTimeoutMs, maxTimeoutMs } = options;
    const {
      event,
      phase,
      direction,
      request,
      context,
      bag = new Map(),
      config,
      timeoutMs = Infinity,
    } = params;
    this.started = clock.now();
    this.context = {
      ...{ event, phase, direction, context, bag, config, clock, defaultTimeoutMs, maxTimeoutMs },
      request: frozenCopy(request),
      watch: new DeadlineWatch(clock),
      deadline: this.started + timeoutMs,
      isGivenUp: () => this.givenUp,
    };
  }

  async execute(): Promise<ChainResult> {
    const { payload, signal, direction } = this.params;
    if (this.selection.size === 0) return this.finish();
    this.payload = frozenCopy(payload);
    const giveUp = () => {
      this.givenUp = true;
      this.context.watch.giveUp();
    };
    if (signal?.aborted) giveUp();
    signal?.addEventListener('abort', giveUp, { once: true });
    try {
      const result = this.finish(await (direction === 'send' ? this.send() : this.receive()));
      this.feedSinks(result);
      return result;
    } finally {
      signal?.removeEventListener('abort', giveUp);
      this.context.watch.close();
    }
  }

  private async send(): Promise<Halt | undefined> {
    const { validators, finals, mutators } = this.selection;
    const last = finals.filter(({ traits }) => traits.final === 'only');
    return (await this.mutate(mutators)) ?? (await this.validate([...validators, ...last], false));
  }

  private async receive(): Promise<Halt | undefined> {
    const { validators, finals, mutators } = this.selection;
    const halt = (await this.validate(validators, false)) ?? (await this.mutate(mutators));
    if (halt) return halt;
    // A payload that nothing changed was validated already; only those that wait for the end are still due.
    return this.validate(
      this.modified ? finals : finals.filter(({ traits }) => traits.final === 'only'),
      true,
    );
  }

  /** Validators run as one batch and all complete, before the first in entry order that blocks ends the run. */
  private async validate(entries: readonly PreparedEntry[], final: boolean): Promise<Halt | undefined> {
    const due = entries.filter(entry => this.isDue(entry));
    const attempts = due.map(entry => attempt(this.context, entry, this.payload));
    let first: Halt | undefined;
    for (const [index, pending] of attempts.entries()) {
      const outcome = pending instanceof Promise ? await pending : pending;
      const halt = this.judge(due[index], outcome, final);
      first ??= halt;
    }
    return first;
  }

  private judge(entry: PreparedEntry, outcome: Attempt, final: boolean): Halt | undefined {
    if (outcome.kind === 'skipped') return void this.skip(entry, 'when');
    const mark = final ? ({ final: true } as const) : {};
    if (outcome.kind === 'failed') return this.fail(entry, outcome, 'validation_failed', mark);
    let read: ValidationResult;
    try {
      read = readValidation(outcome.value, { name: entry.name, phase: this.params.phase });
    } catch (error) {
      return this.fail(entry, malformed(error, outcome.durationMs), 'validation_failed', mark);
    }
    const { valid, severity, messages, suggestions, info } = read;
    const denies = !valid && severity === 'error';
    const result = this.add(entry, {
      ...mark,
      outcome: valid ? 'pass' : denies ? 'deny' : 'warn',
      valid,
      ...(severity && { severity }),
      ...(messages && { messages }),
      ...(suggestions && { suggestions }),
      ...(info && { info }),
      durationMs: outcome.durationMs,
    });
    if (!denies || entry.mode === 'audit') return undefined;
    return new Halt('validation_failed', result, messages?.[0]?.message ?? 'the payload is invalid');
  }

  /**
   * Routes a failure: an audit interceptor never blocks, and one that fails open lets the message pass, unless it was
   * the time of the whole run that was up.
   */
  private fail(
    entry: PreparedEntry,
    { why, error, durationMs }: Failed,
    status: 'validation_failed' | 'mutation_failed',
    mark: { final?: true } = {},
  ): Halt | undefined {
    const isAudit = entry.mode === 'audit';
    const isOver = why === 'timeout' && this.isOver();
    const failsOpen = entry.failOpen && !isOver;
    const failedOpen = failsOpen && !isAudit ? ({ failedOpen: true } as const) : {};
    const result = this.add(entry, { ...mark, outcome: why, error, ...failedOpen, durationMs });
    return isAudit || failsOpen ? undefined : new Halt(isOver ? 'timeout' : status, result, error);
  }

  private isOver(): boolean {
    return this.givenUp || this.options.clock.now() >= this.context.deadline;
  }

  /** Mutators run one after the other, each on what the last one made. */
  private async mutate(entries: readonly PreparedEntry[]): Promise<Halt | undefined> {
    for (const entry of entries) {
      if (this.response !== undefined) break;
      if (!this.isDue(entry)) continue;
      const pending = attempt(this.context, entry, this.payload);
      const outcome = pending instanceof Promise ? await pending : pending;
      const halt = this.apply(entry, outcome);
      if (halt) return halt;
    }
    return undefined;
  }

  private apply(entry: PreparedEntry, outcome: Attempt): Halt | undefined {
    if (outcome.kind === 'skipped') return void this.skip(entry, 'when');
    if (outcome.kind === 'failed') return this.fail(entry, outcome, 'mutation_failed');
    const { durationMs } = outcome;
    if (outcome.value instanceof SyntheticResponse) return this.respond(entry, outcome.value, durationMs);
    let read: MutationResult;
    try {
      read = readMutation(outcome.value, { name: entry.name, phase: this.params.phase }, this.payload);
      if (read.modified) this.checkMutation(read.payload);
    } catch (error) {
      return this.fail(entry, malformed(error, durationMs), 'mutation_failed');
    }
    const { modified, payload, info } = read;
    const shared = { modified, ...(info && { info }), durationMs };
    if (!modified) return void this.add(entry, { ...shared, outcome: 'unmodified' });

    const next = frozenCopy(payload);
    const { scope } = entry.traits;
    const breach = breachOf(this.payload, next, scope, this.params.phase === 'request');
    if (breach !== undefined) {
      const error = `it changed ${breach}, which its scope does not allow`;
      if (scope?.onBreach !== 'drop')
        return this.fail(entry, { kind: 'failed', why: 'crash', error, durationMs }, 'mutation_failed');
      return void this.add(entry, { ...shared, modified: false, outcome: 'dropped', error });
    }
    const isAudit = entry.mode === 'audit';
    this.add(entry, {
      ...shared,
      outcome: 'mutated',
      payload: next,
      ...((isAudit || this.params.simulate) && { diff: diffOf(this.payload, next) }),
    });
    if (isAudit) return undefined;
    this.payload = next;
    this.modified = true;
    return undefined;
  }

  private respond(entry: PreparedEntry, { result }: SyntheticResponse, durationMs: number): Halt | undefined {
    if (this.params.phase === 'response') {
      const error = 'it answered with respondWith, which only the request phase has';
      return this.fail(entry, { kind: 'failed', why: 'crash', error, durationMs }, 'mutation_failed');
    }
    this.add(entry, { outcome: 'responded', durationMs });
    if (entry.mode !== 'audit') this.response = { interceptor: entry.name, result };
    return undefined;
  }

  private checkMutation(payload: unknown): void {
    const problem = this.params.checkPayload?.(payload);
    if (problem !== undefined)
      throw new MalformedResultError(`its payload is none for ${this.params.event}: ${problem}`);
  }

  private isDue(entry: PreparedEntry): boolean {
    const { protocolVersion, simulate } = this.params;
    if (protocolVersion !== undefined && !isCompatible(entry.entry.descriptor.compat, protocolVersion)) {
      this.skip(entry, 'compat');
      return false;
    }
    if (simulate && entry.traits.sideEffects !== 'none') {
      this.skip(entry, 'side-effects');
      return false;
    }
    return true;
  }

  private skip({ name, host }: PreparedEntry, reason: SkippedEntry['reason']): void {
    this.skipped.push({ interceptor: name, host, reason });
  }

  private add(
    { name, host, mode, entry }: PreparedEntry,
    rest: Omit<EntryResult, 'interceptor' | 'host' | 'type' | 'phase' | 'mode'>,
  ): EntryResult {
    const result: EntryResult = {
      interceptor: name,
      host,
      type: entry.descriptor.type as EntryResult['type'],
      phase: this.params.phase,
      ...(mode === 'audit' && { mode }),
      ...rest,
    };
    this.results.push(result);
    return result;
  }

  private finish(halt?: Halt): ChainResult {
    const { event, phase, payload } = this.params;
    return {
      status: halt?.status ?? 'success',
      event,
      phase,
      results: this.results,
      skipped: this.skipped,
      // A message that nothing changed goes on as it is, not as a copy.
      ...(halt === undefined && { finalPayload: this.modified ? thawedCopy(this.payload) : payload }),
      ...(halt === undefined && this.response && { response: this.response }),
      validationSummary: this.summary(),
      totalDurationMs: this.options.clock.now() - this.started,
      ...(halt && { abortedAt: abortedAt(halt) }),
    };
  }

  private summary(): ChainResult['validationSummary'] {
    const count = (severity: string) => this.results.filter(result => result.severity === severity).length;
    return { errors: count('error'), warnings: count('warn'), infos: count('info') };
  }

  /** Sinks see the payload as it went on or, where it did not, as it came. Nobody waits for them. */
  private feedSinks(report: ChainResult): void {
    const { sinks } = this.selection;
    const due = sinks.filter(entry => this.isDue(entry));
    if (due.length === 0) return;
    const context: RunContext = {
      ...this.context,
      watch: new DeadlineWatch(this.options.clock),
      deadline: Infinity,
      isGivenUp: () => false,
      report,
    };
    for (const entry of due) {
      void Promise.resolve(attempt(context, entry, this.payload)).then(outcome => {
        if (outcome.kind === 'failed') this.options.onSinkError?.(entry, outcome.error);
      });
    }
  }
}

const malformed = (error: unknown, durationMs: number): Failed => ({
  kind: 'failed',
  why: 'crash',
  error: `its result is malformed: ${(error as Error).message}`,
  durationMs,
});

function abortedAt({ status, reason, result }: Halt): NonNullable<ChainResult['abortedAt']> {
  const type = status === 'timeout' || result.outcome === 'timeout' ? 'timeout' : result.type;
  return { interceptor: result.interceptor, host: result.host, reason, type };
}
