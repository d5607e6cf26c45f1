import { attempt, type Attempt, type RunContext } from './attempt.js';
import { isCompatible } from './compat.js';
import { DeadlineWatch } from './deadline.js';
import type { PreparedEntry } from './entry.js';
import { frozenCopy, thawedCopy } from './frozen.js';
import { Ledger } from './ledger.js';
import type { ChainOptions, ChainParams } from './params.js';
import {
  summaryOf,
  type ChainResult,
  type EntryResult,
  type Outcome,
  type SkippedEntry,
  type Writable,
} from './result.js';
import type { Selection } from './selection.js';
import { feedSinks } from './sinks.js';
import { verdictOf, type Ends, type Given, type Said } from './verdict.js';

/** A chain's options, with the defaults filled in. */
export type RunOptions = Required<Omit<ChainOptions, 'onSinkError'>> & Pick<ChainOptions, 'onSinkError'>;

/** Told of a run once all of it has ended. */
export type OnEnd = (result: ChainResult) => void;

/** Why a run ends before its end. */
class Halt {
  constructor(
    readonly status: Ends['status'],
    /** Where in the run it was. */
    readonly place: number,
    readonly result: EntryResult,
    readonly reason: string,
  ) {}
}

/** One interceptor in a run: what it is given, and where its result goes. */
interface Turn extends Given {
  readonly place: number;
  /** Whether it is the second run of a `final` validator. */
  readonly isFinal: boolean;
}

/** What a part of a run comes to: undefined where the run goes on. Local interceptors often need no promise. */
type Ending = Halt | undefined | Promise<Halt | undefined>;

const unless = (ending: Ending, next: () => Ending): Ending =>
  ending instanceof Promise ? ending.then(halt => halt ?? next()) : (ending ?? next());

/** Of several, the one whose interceptor comes first. */
const earliestOf = async (known: Halt | undefined, waiting: readonly Promise<Halt | undefined>[]) =>
  (await Promise.all(waiting)).reduce(
    (first, halt) => (halt && (!first || halt.place < first.place) ? halt : first),
    known,
  );

const isPending = (attempted: Attempt | Promise<Attempt>): attempted is Promise<Attempt> =>
  attempted instanceof Promise;

/** One run of a chain on one message. */
export class ChainRun {
  private readonly context: RunContext;
  private readonly started: number;
  private readonly ledger = new Ledger();
  /** Audit interceptors that have not ended yet: they are only recorded. */
  private readonly audits: Promise<unknown>[] = [];
  /** The payload as it came. */
  private readonly received: unknown;
  private payload: unknown;
  private modified = false;
  private response: ChainResult['response'];

  constructor(
    private readonly selection: Selection,
    private readonly params: ChainParams,
    private readonly options: RunOptions,
    private readonly onEnd?: OnEnd,
  ) {
    const { clock, defaultTimeoutMs, maxTimeoutMs } = options;
    const { event, phase, direction, request, context, protocolVersion, config, signal } = params;
    this.started = clock.now();
    this.context = {
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
      watch: new DeadlineWatch(clock, signal),
      deadline: this.started + (params.timeoutMs ?? Infinity),
    };
    this.received = this.payload = frozenCopy(params.payload);
  }

  /** It is a promise only where something has to be waited for. */
  execute(): ChainResult | Promise<ChainResult> {
    const ending = this.params.direction === 'send' ? this.send() : this.receive();
    if (this.onEnd) return this.decided(ending, this.onEnd);
    return ending instanceof Promise || this.audits.length > 0 ? this.settled(ending) : this.end(ending);
  }

  private async settled(ending: Ending): Promise<ChainResult> {
    try {
      const halt = await ending;
      await Promise.all(this.audits);
      return this.end(halt);
    } finally {
      this.context.watch.close();
    }
  }

  /** The decision, with audit interceptors left to run beside what becomes of it. */
  private decided(ending: Ending, onEnd: OnEnd): ChainResult | Promise<ChainResult> {
    if (ending instanceof Promise) {
      return ending.then(halt => this.decided(halt, onEnd)).finally(() => this.closeUnlessAudited());
    }
    if (this.audits.length > 0) return this.leave(ending, onEnd);
    const result = this.end(ending);
    onEnd(result);
    return result;
  }

  private leave(halt: Halt | undefined, onEnd: OnEnd): ChainResult {
    const { watch } = this.context;
    watch.detach();
    const decision = this.finish(halt);
    const left = Promise.allSettled(this.audits).then(() => {
      watch.close();
      // What was decided on may have changed since, in the hands of those who act on it.
      const whole = this.finish(halt, this.payload);
      this.report(halt, whole);
      onEnd(whole);
    });
    this.options.beside.keep(left, () => watch.giveUp());
    return decision;
  }

  private closeUnlessAudited(): void {
    if (this.audits.length === 0) this.context.watch.close();
  }

  private end(halt: Halt | undefined): ChainResult {
    const result = this.finish(halt);
    this.report(halt, result);
    return result;
  }

  private report(halt: Halt | undefined, result: ChainResult): void {
    if (this.selection.sinks.length > 0) this.feed(halt ? this.received : this.payload, result);
  }

  private feed(payload: unknown, result: ChainResult): void {
    const sinks = this.selection.sinks.filter(entry => this.isDue(entry));
    if (sinks.length > 0) feedSinks(sinks, { context: this.context, payload, result, ...this.options });
  }

  private send(): Ending {
    const { validators, onlyFinals, mutators } = this.selection;
    const all = onlyFinals.length > 0 ? [...validators, ...onlyFinals] : validators;
    return unless(this.mutate(mutators), () => this.validate(all, false));
  }

  private receive(): Ending {
    const { validators, onlyFinals, mutators } = this.selection;
    const validated = this.validate(validators, false);
    return mutators.length + onlyFinals.length === 0 ? validated : unless(validated, () => this.change());
  }

  /** Mutators, then the validators that wait for the end, or once more those that are to see what was changed. */
  private change(): Ending {
    const { finals, onlyFinals, mutators } = this.selection;
    return unless(this.mutate(mutators), () => this.validate(this.modified ? finals : onlyFinals, true));
  }

  /** Validators run as one batch and all complete, before the first in entry order that blocks ends the run. */
  private validate(entries: readonly PreparedEntry[], isFinal: boolean): Ending {
    let first: Halt | undefined;
    const waiting: Promise<Halt | undefined>[] = [];
    const { clock } = this.options;
    let now = clock.now();
    for (const entry of entries) {
      if (!this.isDue(entry)) continue;
      const turn = { entry, place: this.ledger.reserve(), payload: this.payload, isFinal };
      const attempted = attempt(this.context, entry, turn.payload, now);
      now = isPending(attempted) || attempted.kind === 'skipped' ? clock.now() : now + attempted.durationMs;
      if (isPending(attempted)) {
        const concluded = this.concludeLater(turn, attempted);
        if (entry.mode === 'audit') this.audit(concluded);
        else waiting.push(concluded);
      } else {
        const halt = this.conclude(turn, attempted);
        first ??= halt;
      }
    }
    return waiting.length === 0 ? first : earliestOf(first, waiting);
  }

  /** Mutators run one after the other, each on what the last one made; those in audit run beside them. */
  private mutate(entries: readonly PreparedEntry[], from = 0): Ending {
    for (let index = from; index < entries.length && this.response === undefined; index++) {
      const entry = entries[index];
      if (!this.isDue(entry)) continue;
      const turn: Turn = { entry, place: this.ledger.reserve(), payload: this.payload, isFinal: false };
      const attempted = attempt(this.context, entry, turn.payload);
      if (!isPending(attempted)) {
        const halt = this.conclude(turn, attempted);
        if (halt) return halt;
      } else if (entry.mode === 'audit') {
        this.audit(this.concludeLater(turn, attempted));
      } else {
        return this.goOn(turn, attempted, entries, index + 1);
      }
    }
    return undefined;
  }

  private goOn(
    turn: Turn,
    attempted: Promise<Attempt>,
    entries: readonly PreparedEntry[],
    next: number,
  ): Ending {
    return attempted.then(settled => unless(this.conclude(turn, settled), () => this.mutate(entries, next)));
  }

  /** A method, as `goOn` is: for what a closure in a loop holds, every turn of the loop makes room. */
  private concludeLater(turn: Turn, attempted: Promise<Attempt>): Promise<Halt | undefined> {
    return attempted.then(settled => this.conclude(turn, settled));
  }

  private audit(recorded: Promise<unknown>): void {
    // Nobody waits for it yet, and what nobody waits for must not end the process.
    recorded.catch(() => undefined);
    this.audits.push(recorded);
    if (this.onEnd) this.options.beside.add(recorded);
  }

  private conclude(turn: Turn, attempted: Attempt): Halt | undefined {
    if (attempted.kind === 'skipped') return void this.skip(turn.entry, 'when');
    const { outcome, said, next, response, ends } = verdictOf(turn, attempted, this.params);
    const result = this.add(turn, outcome, attempted.durationMs, said);
    if (next !== undefined) {
      this.payload = next;
      this.modified = true;
    }
    if (response) this.response = { interceptor: turn.entry.name, result: response };
    return ends && new Halt(ends.status, turn.place, result, ends.reason);
  }

  private isDue(entry: PreparedEntry): boolean {
    const { protocolVersion, simulate } = this.params;
    if (protocolVersion !== undefined && !isCompatible(entry.compat, protocolVersion)) {
      this.skip(entry, 'compat');
      return false;
    }
    if (this.onEnd && entry.mode === 'audit' && entry.type !== 'sink' && this.options.beside.isFull) {
      this.skip(entry, 'busy');
      return false;
    }
    if (simulate && entry.traits.sideEffects !== 'none') {
      this.skip(entry, 'side-effects');
      return false;
    }
    return true;
  }

  private skip({ name, host, traits }: PreparedEntry, reason: SkippedEntry['reason']): void {
    const { skipped } = this.ledger;
    // A final validator comes by twice.
    const isKnown =
      traits.final !== undefined &&
      skipped.some(one => one.interceptor === name && one.host === host && one.reason === reason);
    if (!isKnown) skipped.push({ interceptor: name, host, reason });
  }

  /** Writes properties one by one: spread, they cost more than all else in a run. */
  private add(
    { entry, place, isFinal }: Turn,
    outcome: Outcome,
    durationMs: number,
    said?: Said,
  ): EntryResult {
    const { name, host, mode } = entry;
    const { phase } = this.params;
    const result: Writable<EntryResult> = {
      interceptor: name,
      host,
      type: typeOf(entry),
      phase,
      outcome,
      durationMs,
    };
    if (mode === 'audit') result.mode = mode;
    if (isFinal) result.final = true;
    if (outcome === 'pass') result.valid = true;
    if (said) Object.assign(result, said);
    this.ledger.put(place, result);
    return result;
  }

  private finish(halt: Halt | undefined, unchanged = this.params.payload): ChainResult {
    const { event, phase } = this.params;
    const results = this.ledger.results();
    const result: Writable<ChainResult> = {
      status: halt?.status ?? 'success',
      event,
      phase,
      results,
      skipped: [...this.ledger.skipped],
      validationSummary: summaryOf(results),
      totalDurationMs: this.options.clock.now() - this.started,
    };
    if (halt) {
      result.abortedAt = abortedAt(halt);
      return result;
    }
    // A message that nothing changed goes on as it is, not as a copy.
    result.finalPayload = this.modified ? thawedCopy(this.payload) : unchanged;
    if (this.response) result.response = this.response;
    return result;
  }
}

const typeOf = ({ type }: PreparedEntry): EntryResult['type'] => type as EntryResult['type'];

function abortedAt({ status, reason, result }: Halt): NonNullable<ChainResult['abortedAt']> {
  const type = status === 'timeout' || result.outcome === 'timeout' ? 'timeout' : result.type;
  return { interceptor: result.interceptor, host: result.host, reason, type };
}
