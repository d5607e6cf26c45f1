import type { TurnObserving } from '../../protocol/traffic-listener.js';
import { after } from '../../util/async-iterable.js';
import { isCompatible } from './when.js';
import { type Abortable, DeadlineWatch } from './deadline.js';
import type { PreparedEntry } from './entry.js';
import { frozenCopy, thawedCopy } from './frozen.js';
import { feedSinks, type Invoked, invokeEntry, type RunContext } from './invoke-entry.js';
import type { ChainOptions, ChainParams } from './params.js';
import {
  type ChainResult,
  type EntryResult,
  type Outcome,
  type SkippedEntry,
  summaryOf,
  type Writable,
} from './result.js';
import type { Selection } from './selection.js';
import { type HaltReason, type VerdictInput, type VerdictDetails, verdictOf } from './verdict.js';

type Optional = 'observe' | 'observeSink';

export type RunOptions = Required<Omit<ChainOptions, Optional>> & Pick<ChainOptions, Optional>;

export type OnEnd = (result: ChainResult) => void;

interface Halt extends HaltReason {
  readonly result: EntryResult;
}

interface Turn extends VerdictInput {
  readonly place: number;
  readonly isFinal: boolean;
  readonly seen: TurnObserving | undefined;
}

type Ending = Halt | undefined;

const isPromise = (ending: Ending | Promise<Ending>) => ending instanceof Promise;

const firstOf = (endings: readonly Ending[]): Ending => endings.find(halt => halt !== undefined);

/** The data that all invocations of a run share. The time of the run starts now. */
export function runContext(
  params: ChainParams,
  { clock, defaultTimeoutMs, maxTimeoutMs }: Pick<RunOptions, 'clock' | 'defaultTimeoutMs' | 'maxTimeoutMs'>,
  call: Abortable = params,
): RunContext {
  const { event, phase, direction, request, context, protocolVersion, config } = params;
  return {
    event,
    phase,
    direction,
    request: frozenCopy(request),
    context,
    protocolVersion,
    bag: params.bag ?? new Map(),
    config,
    clock,
    defaultTimeoutMs,
    maxTimeoutMs,
    watch: new DeadlineWatch(clock, call),
    deadline: clock.now() + (params.timeoutMs ?? Infinity),
  };
}

export class ChainRun {
  private readonly started: number;
  private readonly context: RunContext;
  /** In starting order. Undefined if an interceptor still runs, or did not apply. */
  private readonly results: (EntryResult | undefined)[] = [];
  private readonly skipped: SkippedEntry[] = [];
  private readonly audits: Promise<unknown>[] = [];
  private sinks: readonly PreparedEntry[] = [];
  private readonly received: unknown;
  private payload: unknown;
  private modified = false;
  private response: ChainResult['response'];

  constructor(
    private readonly selection: Selection,
    private readonly params: ChainParams,
    private readonly options: RunOptions,
    private readonly onEnd?: OnEnd,
    call: Abortable = params,
  ) {
    this.started = options.clock.now();
    this.context = runContext(params, options, call);
    this.received = this.payload = frozenCopy(params.payload);
  }

  /** Returns the decision. With `onEnd`, audit interceptors continue after the decision. */
  async execute(): Promise<ChainResult> {
    const { onEnd, audits } = this;
    const ending = this.decide();
    // `await` takes longer than a run of validators that return no promise.
    const halt = ending instanceof Promise ? await ending : ending;
    this.sinks = this.selection.sinks.filter(entry => this.isDue(entry));
    if (onEnd && audits.length > 0) return this.leave(halt, onEnd);
    if (audits.length > 0) await Promise.all(audits);
    const result = this.finish(halt);
    this.report(halt, result);
    onEnd?.(result);
    return result;
  }

  private leave(halt: Ending, onEnd: OnEnd): ChainResult {
    const { watch } = this.context;
    watch.detach();
    const decision = this.finish(halt);
    const left = Promise.allSettled(this.audits).then(() => {
      // The original payload, because the caller may have changed the returned payload since.
      const whole = this.finish(halt, this.payload);
      this.report(halt, whole);
      onEnd(whole);
    });
    this.options.auditRuns.keep(left, () => watch.giveUp());
    return decision;
  }

  private report(halt: Ending, result: ChainResult): void {
    const { sinks, context } = this;
    const payload = halt ? this.received : this.payload;
    if (sinks.length > 0) feedSinks(sinks, { context, payload, result, ...this.options });
  }

  /** Awaits only promises, so that an interceptor starts at once if it need not wait. */
  private decide(): Ending | Promise<Ending> {
    const { validators, finals, onlyFinals, mutators } = this.selection;
    const mutated = (next: () => Ending | Promise<Ending>) =>
      mutators.length === 0 ? next() : after(this.mutate(mutators), halt => halt ?? next());
    if (this.params.direction === 'send') {
      return mutated(() => this.validate([...validators, ...onlyFinals], false));
    }
    // Final validators run again on the changed payload.
    const validatedAgain = () => this.validate(this.modified ? finals : onlyFinals, true);
    return after(this.validate(validators, false), halt => halt ?? mutated(validatedAgain));
  }

  /**
   * Runs validators as one batch. All of them complete; then the first blocking validator in entry order ends the run.
   */
  private validate(entries: readonly PreparedEntry[], isFinal: boolean): Ending | Promise<Ending> {
    const endings: (Ending | Promise<Ending>)[] = [];
    for (const entry of entries) if (this.isDue(entry)) endings.push(this.take(entry, isFinal));
    return endings.some(isPromise)
      ? Promise.all(endings as Promise<Ending>[]).then(firstOf)
      : firstOf(endings as Ending[]);
  }

  private async mutate(entries: readonly PreparedEntry[]): Promise<Ending> {
    for (const entry of entries) {
      if (this.response !== undefined) return undefined;
      const ending = this.isDue(entry) ? this.take(entry, false) : undefined;
      const halt = ending instanceof Promise ? await ending : ending;
      if (halt) return halt;
    }
    return undefined;
  }

  /** Runs an interceptor. The run does not wait for an audit interceptor that returns a promise. */
  private take(entry: PreparedEntry, isFinal: boolean): Ending | Promise<Ending> {
    const { context, payload } = this;
    const seen = this.options.observe?.(entry, this.params);
    const turn: Turn = { entry, place: this.results.push(undefined) - 1, payload, isFinal, seen };
    const invoked = seen
      ? seen.run(() => invokeEntry(context, entry, payload))
      : invokeEntry(context, entry, payload);
    if (!(invoked instanceof Promise)) return this.conclude(turn, invoked);
    const concluded = invoked.then(settled => this.conclude(turn, settled));
    if (entry.mode !== 'audit') return concluded;
    // A late failure must not end the process.
    concluded.catch(() => undefined);
    this.audits.push(concluded);
    if (this.onEnd) this.options.auditRuns.add(concluded);
    return undefined;
  }

  private conclude(turn: Turn, invoked: Invoked): Ending {
    if (invoked.kind === 'skipped') {
      turn.seen?.end(undefined);
      return void this.skip(turn.entry, 'when');
    }
    const { outcome, details, next, response, halt } = verdictOf(turn, invoked, this.params);
    const result = this.add(turn, outcome, invoked.durationMs, details);
    turn.seen?.end(result);
    if (next !== undefined) {
      this.payload = next;
      this.modified = true;
    }
    if (response) this.response = { interceptor: turn.entry.name, result: response };
    return halt && { ...halt, result };
  }

  private isDue(entry: PreparedEntry): boolean {
    const reason = this.reasonToSkip(entry);
    if (reason) this.skip(entry, reason);
    return reason === undefined;
  }

  private reasonToSkip({ compat, mode, type, traits }: PreparedEntry): SkippedEntry['reason'] | undefined {
    const { protocolVersion, simulate } = this.params;
    if (!isCompatible(compat, protocolVersion)) return 'compat';
    const isBeside = this.onEnd && mode === 'audit' && type !== 'sink';
    if (isBeside && this.options.auditRuns.isFull) return 'busy';
    return simulate && traits.sideEffects !== 'none' ? 'side-effects' : undefined;
  }

  private skip({ name, host, traits }: PreparedEntry, reason: SkippedEntry['reason']): void {
    // A final validator is selected twice.
    const isKnown =
      traits.final !== undefined &&
      this.skipped.some(one => one.interceptor === name && one.host === host && one.reason === reason);
    if (!isKnown) this.skipped.push({ interceptor: name, host, reason });
  }

  /** Assigns properties one by one, because a spread would cost more than the rest of a run. */
  private add(
    { entry, place, isFinal }: Turn,
    outcome: Outcome,
    durationMs: number,
    details?: VerdictDetails,
  ): EntryResult {
    const { name, host, mode } = entry;
    const { phase } = this.params;
    const type = entry.type as EntryResult['type'];
    const result: Writable<EntryResult> = { interceptor: name, host, type, phase, outcome, durationMs };
    if (mode === 'audit') result.mode = mode;
    if (isFinal) result.final = true;
    if (outcome === 'pass') result.valid = true;
    if (details) Object.assign(result, details);
    this.results[place] = result;
    return result;
  }

  private finish(halt: Ending, unchanged = this.params.payload): ChainResult {
    const { event, phase } = this.params;
    const results = this.results.filter(result => result !== undefined);
    const result: Writable<ChainResult> = {
      status: halt?.status ?? 'success',
      event,
      phase,
      results,
      skipped: [...this.skipped],
      validationSummary: summaryOf(results),
      totalDurationMs: this.options.clock.now() - this.started,
    };
    if (halt) {
      const { interceptor, host, outcome, type } = halt.result;
      const isTimeout = halt.status === 'timeout' || outcome === 'timeout';
      result.abortedAt = { interceptor, host, reason: halt.reason, type: isTimeout ? 'timeout' : type };
      return result;
    }
    // An unmodified message continues as the same object, not as a copy.
    result.finalPayload = this.modified ? thawedCopy(this.payload) : unchanged;
    if (this.response) result.response = this.response;
    return result;
  }
}
