import { MalformedResultError, readMutation, readValidation } from '../protocol/read-result.js';
import type { MutationResult, ValidationResult } from '../protocol/types.js';
import { attempt, messageOf, type Attempt, type RunContext } from './attempt.js';
import { isCompatible } from './compat.js';
import { DeadlineWatch } from './deadline.js';
import type { PreparedEntry } from './entry.js';
import { frozenCopy, thawedCopy } from './frozen.js';
import type { ChainOptions, ChainParams } from './params.js';
import type { ChainResult, ChainStatus, EntryResult, SkippedEntry } from './result.js';
import { diffOf } from './scope.js';
import type { Selection } from './selection.js';
import { SyntheticResponse } from './synthetic.js';

type Failed = Extract<Attempt, { kind: 'failed' }>;
type Options = Required<Omit<ChainOptions, 'onSinkError'>> & Pick<ChainOptions, 'onSinkError'>;

const FINAL = { final: true } as const;

/** Why a run ends before its end. */
class Halt {
  constructor(
    readonly status: Exclude<ChainStatus, 'success'>,
    readonly result: EntryResult,
    readonly reason: string,
  ) {}
}

/** What a mutator made of the payload; without `next` it left it as it was. */
interface Change {
  readonly info?: MutationResult['info'];
  readonly next?: unknown;
  readonly breach?: string;
  readonly diff?: EntryResult['diff'];
}

/** What a part of a run comes to: undefined where the run goes on. Local interceptors often need no promise. */
type Ending = Halt | undefined | Promise<Halt | undefined>;

const unless = (ending: Ending, next: () => Ending): Ending =>
  ending instanceof Promise ? ending.then(halt => halt ?? next()) : (ending ?? next());

const isPending = (attempted: Attempt | Promise<Attempt>): attempted is Promise<Attempt> =>
  attempted instanceof Promise;

/** One run of a chain on one message. */
export class ChainRun {
  private readonly context: RunContext;
  private readonly started: number;
  private readonly results: EntryResult[] = [];
  private readonly skipped: SkippedEntry[] = [];
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
      signal,
    } = params;
    this.started = clock.now();
    this.context = {
      event,
      phase,
      direction,
      request: frozenCopy(request),
      context: frozenCopy(context),
      bag,
      config,
      clock,
      defaultTimeoutMs,
      maxTimeoutMs,
      watch: new DeadlineWatch(clock, signal),
      deadline: this.started + timeoutMs,
    };
    this.payload = frozenCopy(params.payload);
  }

  async execute(): Promise<ChainResult> {
    try {
      const ending = this.params.direction === 'send' ? this.send() : this.receive();
      const result = this.finish(ending instanceof Promise ? await ending : ending);
      this.feedSinks(result);
      return result;
    } finally {
      this.context.watch.close();
    }
  }

  private send(): Ending {
    const { validators, onlyFinals, mutators } = this.selection;
    const all = onlyFinals.length > 0 ? [...validators, ...onlyFinals] : validators;
    return unless(this.mutate(mutators), () => this.validate(all, false));
  }

  private receive(): Ending {
    const { validators, finals, onlyFinals, mutators } = this.selection;
    return unless(this.validate(validators, false), () =>
      // A payload that nothing changed was validated already; only those that wait for the end are still due.
      unless(this.mutate(mutators), () => this.validate(this.modified ? finals : onlyFinals, true)),
    );
  }

  /** Validators run as one batch and all complete, before the first in entry order that blocks ends the run. */
  private validate(entries: readonly PreparedEntry[], final: boolean): Ending {
    if (entries.length === 0) return undefined;
    const due = entries.filter(entry => this.isDue(entry));
    const attempts = due.map(entry => attempt(this.context, entry, this.payload));
    const judge = (outcomes: readonly Attempt[]) => {
      const halts = outcomes.map((outcome, index) => this.judge(due[index], outcome, final));
      return halts.find(halt => halt !== undefined);
    };
    if (!attempts.some(isPending)) return judge(attempts as Attempt[]);
    return Promise.all(attempts.map(pending => Promise.resolve(pending))).then(judge);
  }

  private judge(entry: PreparedEntry, outcome: Attempt, final: boolean): Halt | undefined {
    if (outcome.kind === 'skipped') return void this.skip(entry, 'when');
    const mark = final && FINAL;
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
      outcome: valid ? 'pass' : denies ? 'deny' : 'warn',
      valid,
      durationMs: outcome.durationMs,
      ...mark,
      ...(severity && { severity }),
      ...(messages && { messages }),
      ...(suggestions && { suggestions }),
      ...(info && { info }),
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
    mark: typeof FINAL | false = false,
  ): Halt | undefined {
    const isAudit = entry.mode === 'audit';
    const isOver = why === 'timeout' && this.isOver();
    const failsOpen = entry.failOpen && !isOver;
    const failedOpen = failsOpen && !isAudit && ({ failedOpen: true } as const);
    const result = this.add(entry, { outcome: why, error, durationMs, ...mark, ...failedOpen });
    return isAudit || failsOpen ? undefined : new Halt(isOver ? 'timeout' : status, result, error);
  }

  private isOver(): boolean {
    return this.context.watch.isGivenUp || this.options.clock.now() >= this.context.deadline;
  }

  /** Mutators run one after the other, each on what the last one made. */
  private mutate(entries: readonly PreparedEntry[], from = 0): Ending {
    for (let index = from; index < entries.length && this.response === undefined; index++) {
      const entry = entries[index];
      if (!this.isDue(entry)) continue;
      const outcome = attempt(this.context, entry, this.payload);
      if (isPending(outcome)) {
        return outcome.then(settled =>
          unless(this.apply(entry, settled), () => this.mutate(entries, index + 1)),
        );
      }
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
    let change: Change;
    try {
      change = this.changeOf(entry, outcome.value);
    } catch (error) {
      return this.fail(entry, malformed(error, durationMs), 'mutation_failed');
    }
    const { next, breach, diff } = change;
    const said = change.info && { info: change.info };
    if (next === undefined) {
      return void this.add(entry, { outcome: 'unmodified', modified: false, durationMs, ...said });
    }
    if (breach !== undefined) {
      const error = `it changed ${breach}, which its scope does not allow`;
      if (!entry.scope[this.params.phase].drops)
        return this.fail(entry, { kind: 'failed', why: 'crash', error, durationMs }, 'mutation_failed');
      return void this.add(entry, { outcome: 'dropped', modified: false, error, durationMs, ...said });
    }
    this.add(entry, {
      outcome: 'mutated',
      modified: true,
      payload: next,
      durationMs,
      ...said,
      ...(diff && { diff }),
    });
    if (entry.mode === 'audit') return undefined;
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

  /**
   * Reads what a mutator made of the payload, all of it that it could have made impossible to read.
   * @throws for something that is no payload
   */
  private changeOf(entry: PreparedEntry, value: unknown): Change {
    const { event, phase, checkPayload, simulate } = this.params;
    const { modified, payload, info } = readMutation(value, { name: entry.name, phase }, this.payload);
    if (!modified) return { info };
    const problem = checkPayload?.(payload);
    if (problem !== undefined) throw new MalformedResultError(`its payload is none for ${event}: ${problem}`);
    const next = frozenCopy(payload, this.payload);
    const isShown = entry.mode === 'audit' || simulate;
    return {
      info,
      next,
      breach: entry.scope[phase].breach(this.payload, next),
      ...(isShown && { diff: diffOf(this.payload, next) }),
    };
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
    const count = { error: 0, warn: 0, info: 0 };
    for (const { severity } of this.results) if (severity) count[severity]++;
    return { errors: count.error, warnings: count.warn, infos: count.info };
  }

  /** Sinks see the payload as it went on or, where it did not, as it came. Nobody waits for them. */
  private feedSinks(report: ChainResult): void {
    const due = this.selection.sinks.filter(entry => this.isDue(entry));
    if (due.length === 0) return;
    const context: RunContext = {
      ...this.context,
      watch: new DeadlineWatch(this.options.clock),
      deadline: Infinity,
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
  error: `its result is malformed: ${messageOf(error)}`,
  durationMs,
});

function abortedAt({ status, reason, result }: Halt): NonNullable<ChainResult['abortedAt']> {
  const type = status === 'timeout' || result.outcome === 'timeout' ? 'timeout' : result.type;
  return { interceptor: result.interceptor, host: result.host, reason, type };
}
