import { readValidation, VALID } from '../protocol/read-result.js';
import type { ValidationResult } from '../protocol/types.js';
import { attempt, messageOf, type Attempt, type Failed, type RunContext } from './attempt.js';
import { readChange, type Change, type Given } from './change.js';
import { isCompatible } from './compat.js';
import { DeadlineWatch } from './deadline.js';
import type { PreparedEntry } from './entry.js';
import { frozenCopy, thawedCopy } from './frozen.js';
import { Ledger } from './ledger.js';
import type { ChainOptions, ChainParams } from './params.js';
import {
  summaryOf,
  type ChainResult,
  type ChainStatus,
  type EntryResult,
  type Outcome,
  type SkippedEntry,
  type Writable,
} from './result.js';
import type { Selection } from './selection.js';
import { feedSinks } from './sinks.js';

/** A chain's options, with the defaults filled in. */
export type RunOptions = Required<Omit<ChainOptions, 'onSinkError'>> & Pick<ChainOptions, 'onSinkError'>;

/** Why a run ends before its end. */
class Halt {
  constructor(
    readonly status: Exclude<ChainStatus, 'success'>,
    /** Where in the run it was. */
    readonly place: number,
    readonly result: EntryResult,
    readonly reason: string,
  ) {}
}

/** One interceptor in a run: where its result goes, and what it is given. */
interface Turn extends Given {
  readonly place: number;
  /** Whether it is the second run of a `final` validator. */
  readonly isFinal: boolean;
}

/** What more there is to say of one interceptor's part than how it ended. */
type Said = Partial<EntryResult>;

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
  /** Audit interceptors that the decision does not wait for: they are only recorded. */
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
  ) {
    const { clock, defaultTimeoutMs, maxTimeoutMs } = options;
    const { event, phase, direction, request, context, bag = new Map(), config, signal } = params;
    this.started = clock.now();
    this.context = {
      event,
      phase,
      direction,
      request: frozenCopy(request),
      context: Object.isFrozen(context) ? context : frozenCopy(context),
      bag,
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

  private end(halt: Halt | undefined): ChainResult {
    const result = this.finish(halt);
    if (this.selection.sinks.length > 0) this.feed(halt ? this.received : this.payload, result);
    return result;
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
      const outcome = attempt(this.context, entry, turn.payload, now);
      now = isPending(outcome) || outcome.kind === 'skipped' ? clock.now() : now + outcome.durationMs;
      if (isPending(outcome)) {
        const judged = this.judgeLater(turn, outcome);
        if (entry.mode === 'audit') this.audit(judged);
        else waiting.push(judged);
      } else {
        const halt = this.judge(turn, outcome);
        first ??= halt;
      }
    }
    return waiting.length === 0 ? first : earliestOf(first, waiting);
  }

  /** A method, as the others that wait are: for what a closure in the loop holds, every turn makes room. */
  private judgeLater(turn: Turn, outcome: Promise<Attempt>): Promise<Halt | undefined> {
    return outcome.then(settled => this.judge(turn, settled));
  }

  /** Mutators run one after the other, each on what the last one made; those in audit run beside them. */
  private mutate(entries: readonly PreparedEntry[], from = 0): Ending {
    for (let index = from; index < entries.length && this.response === undefined; index++) {
      const entry = entries[index];
      if (!this.isDue(entry)) continue;
      const turn: Turn = { entry, place: this.ledger.reserve(), payload: this.payload, isFinal: false };
      const outcome = attempt(this.context, entry, turn.payload);
      if (!isPending(outcome)) {
        const halt = this.apply(turn, outcome);
        if (halt) return halt;
      } else if (entry.mode === 'audit') {
        this.audit(this.applyLater(turn, outcome));
      } else {
        return this.mutateAfter(turn, outcome, entries, index + 1);
      }
    }
    return undefined;
  }

  private mutateAfter(
    turn: Turn,
    outcome: Promise<Attempt>,
    entries: readonly PreparedEntry[],
    next: number,
  ): Promise<Halt | undefined> {
    return outcome.then(settled => unless(this.apply(turn, settled), () => this.mutate(entries, next)));
  }

  private applyLater(turn: Turn, outcome: Promise<Attempt>): Promise<Halt | undefined> {
    return outcome.then(settled => this.apply(turn, settled));
  }

  private audit(recorded: Promise<unknown>): void {
    // Nobody waits for it yet, and what nobody waits for must not end the process.
    recorded.catch(() => undefined);
    this.audits.push(recorded);
  }

  private judge(turn: Turn, outcome: Attempt): Halt | undefined {
    const { entry } = turn;
    if (outcome.kind === 'skipped') return void this.skip(entry, 'when');
    if (outcome.kind === 'failed') return this.fail(turn, outcome);
    if (outcome.value === VALID) {
      return void this.add(turn, 'pass', outcome.durationMs);
    }
    let read: ValidationResult;
    let suggestions: ValidationResult['suggestions'];
    let info: ValidationResult['info'];
    try {
      read = readValidation(outcome.value, { name: entry.name, phase: this.params.phase });
      // All else of it is plain values, which were read once.
      suggestions = read.suggestions && frozenCopy(read.suggestions);
      info = read.info && frozenCopy(read.info);
    } catch (error) {
      return this.fail(turn, malformed(error, outcome.durationMs));
    }
    const { valid, severity, messages } = read;
    const denies = !valid && severity === 'error';
    const result = this.add(turn, valid ? 'pass' : denies ? 'deny' : 'warn', outcome.durationMs, {
      valid,
      ...(severity && { severity }),
      ...(messages && { messages }),
      ...(suggestions && { suggestions }),
      ...(info && { info }),
    });
    if (!denies || entry.mode === 'audit') return undefined;
    return new Halt(
      'validation_failed',
      turn.place,
      result,
      messages?.[0]?.message ?? 'the payload is invalid',
    );
  }

  /**
   * Routes a failure: an audit interceptor never blocks, and one that fails open lets the message pass, unless it was
   * the time of the whole run that was up.
   */
  private fail(turn: Turn, { why, error, isRunOver, durationMs }: Failed): Halt | undefined {
    const { entry } = turn;
    const isAudit = entry.mode === 'audit';
    const failsOpen = entry.failOpen && !isRunOver;
    const failedOpen = failsOpen && !isAudit && ({ failedOpen: true } as const);
    const result = this.add(turn, why, durationMs, { error, ...failedOpen });
    if (isAudit || failsOpen) return undefined;
    return new Halt(isRunOver ? 'timeout' : `${typeOf(entry)}_failed`, turn.place, result, error);
  }

  private apply(turn: Turn, outcome: Attempt): Halt | undefined {
    const { entry } = turn;
    if (outcome.kind === 'skipped') return void this.skip(entry, 'when');
    if (outcome.kind === 'failed') return this.fail(turn, outcome);
    const { durationMs, value } = outcome;
    let change: Change;
    try {
      change = readChange(value, turn, this.params);
    } catch (error) {
      return this.fail(turn, malformed(error, durationMs));
    }
    const { response, next, breach, diff } = change;
    if (response) return this.respond(turn, response, durationMs);
    const said: Writable<Said> = { modified: false };
    if (change.info) said.info = change.info;
    if (next === undefined) return void this.add(turn, 'unmodified', durationMs, said);
    if (breach !== undefined) {
      const error = `it changed ${breach}, which its scope does not allow`;
      if (!entry.scope[this.params.phase].drops) return this.fail(turn, crash(error, durationMs));
      said.error = error;
      return void this.add(turn, 'dropped', durationMs, said);
    }
    said.modified = true;
    said.payload = next;
    if (diff) said.diff = diff;
    this.add(turn, 'mutated', durationMs, said);
    if (entry.mode === 'audit') return undefined;
    this.payload = next;
    this.modified = true;
    return undefined;
  }

  private respond(turn: Turn, result: object, durationMs: number): Halt | undefined {
    if (this.params.phase === 'response') {
      return this.fail(
        turn,
        crash('it answered with respondWith, which only the request phase has', durationMs),
      );
    }
    this.add(turn, 'responded', durationMs);
    if (turn.entry.mode !== 'audit') this.response = { interceptor: turn.entry.name, result };
    return undefined;
  }

  private isDue(entry: PreparedEntry): boolean {
    const { protocolVersion, simulate } = this.params;
    if (protocolVersion !== undefined && !isCompatible(entry.compat, protocolVersion)) {
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
    this.ledger.skipped.push({ interceptor: name, host, reason });
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

  private finish(halt?: Halt): ChainResult {
    const { event, phase, payload } = this.params;
    const results = this.ledger.results();
    const result: Writable<ChainResult> = {
      status: halt?.status ?? 'success',
      event,
      phase,
      results,
      skipped: this.ledger.skipped,
      validationSummary: summaryOf(results),
      totalDurationMs: this.options.clock.now() - this.started,
    };
    if (halt) {
      result.abortedAt = abortedAt(halt);
      return result;
    }
    // A message that nothing changed goes on as it is, not as a copy.
    result.finalPayload = this.modified ? thawedCopy(this.payload) : payload;
    if (this.response) result.response = this.response;
    return result;
  }
}

const typeOf = ({ type }: PreparedEntry): EntryResult['type'] => type as EntryResult['type'];

const crash = (error: string, durationMs: number): Failed => ({
  kind: 'failed',
  why: 'crash',
  error,
  isRunOver: false,
  durationMs,
});

const malformed = (error: unknown, durationMs: number): Failed =>
  crash(`its result is malformed: ${messageOf(error)}`, durationMs);

function abortedAt({ status, reason, result }: Halt): NonNullable<ChainResult['abortedAt']> {
  const type = status === 'timeout' || result.outcome === 'timeout' ? 'timeout' : result.type;
  return { interceptor: result.interceptor, host: result.host, reason, type };
}
