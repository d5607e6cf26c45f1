import { AsyncLocalStorage } from 'node:async_hooks';
import { createHash, randomUUID } from 'node:crypto';
import type { InputRequest } from '@modelcontextprotocol/server';
import { isObservable } from 'rxjs';
import { AskPromise } from './ask-promise.js';
import type { InputQuestion, PreparedQuestion } from './input-request.js';
import type { Journal, OpenQuestion, RecordedAnswer, RecordedStep } from './journal.js';
import { MrtrError, type MrtrErrorCode } from './mrtr.error.js';
import type { OnMismatch } from './mrtr-options.js';
import { RoundEnded } from './round-ended.js';

/** What a round needs to know of the call that it is part of. */
export interface RoundOptions {
  /** `Class.method`, for messages. */
  readonly where: string;
  readonly onMismatch: OnMismatch;
  readonly signal: AbortSignal;
  /** Told of a mistake that comes too late to be thrown. */
  readonly onMistake: (mistake: MrtrError) => void;
  /** Asks the client at once, where the connection can; else a question ends the round. */
  readonly askNow?: (request: InputRequest, over: AbortSignal) => Promise<unknown>;
}

/** A stack, which costs little until it is read. */
interface Place {
  readonly stack?: string;
}

/** One question or step of a handler, under its key. */
interface Use {
  readonly key: string;
  readonly place: Place;
  isOver: boolean;
}

interface OpenAsk {
  readonly prepared: PreparedQuestion;
  readonly end: (reason: RoundEnded) => void;
}

/** What nobody waits for any more. To reject it would end the process, for nobody takes it. */
const never = (): Promise<never> => new Promise(() => undefined);

/** Not a number: the order of keys is the order of questions. */
const KEY = /^[A-Za-z_][\w.:/-]{0,99}$/;

/** Which step of which round the code that runs belongs to. */
const running = new AsyncLocalStorage<{ readonly round: Round; readonly step: string }>();

/**
 * One run of a handler that asks in the middle (`await ctx.elicit(…)`). What was answered in earlier rounds is returned at
 * once; a question without an answer ends the round, and the handler runs again from the top when the answer is there, in
 * whichever process that is.
 */
export class Round {
  private readonly answers: Record<string, RecordedAnswer>;
  private readonly steps: Record<string, RecordedStep>;
  private readonly times: number[];
  private readonly open = new Map<string, OpenAsk>();
  private readonly asks: { readonly use: Use; readonly promise: AskPromise<unknown> }[] = [];
  private readonly uses = { ask: new Map<string, Use[]>(), step: new Map<string, Use[]>() };
  /** What the end of the round waits for: its results are to be remembered. */
  private readonly busy = new Set<Promise<unknown>>();
  private ending?: NodeJS.Immediate;
  /** Whether the questions have been handed out: whoever goes on did not let the signal pass. */
  private isEnded = false;
  private mistake?: MrtrError;
  private outcome?: 'value' | 'error';
  private recordedLeft: number;
  private timesRead = 0;
  private derived = 0;
  private isIdUsed: boolean;
  /** Fires when the round is over: nobody is to be asked any more. */
  private readonly over = new AbortController();

  constructor(
    private readonly journal: Journal,
    private readonly options: RoundOptions,
  ) {
    this.answers = { ...journal.answers };
    this.steps = { ...journal.steps };
    this.times = [...journal.times];
    this.isIdUsed = journal.isIdUsed ?? false;
    this.recordedLeft = Object.keys(this.answers).length + Object.keys(this.steps).length;
  }

  /** What the handler asked its client to bring back. */
  get state(): unknown {
    return this.journal.state;
  }

  /** How many rounds came before. */
  get number(): number {
    return this.journal.rounds;
  }

  /** Whether what runs has run before: not all that was recorded has been used yet. */
  get isReplaying(): boolean {
    return this.recordedLeft > 0;
  }

  /** The same in all rounds of a call. */
  get id(): string {
    this.isIdUsed = true;
    return this.journal.id;
  }

  /** Whether it has ended with questions that only the client's next round can answer. */
  get isOpen(): boolean {
    return this.isEnded;
  }

  /** Asks the client, or returns what it answered before. */
  ask<A>(key: string, question: InputQuestion<A>): AskPromise<A> {
    if (this.isLate(key)) return new AskPromise<A>(() => undefined);
    let use: Use | undefined;
    const promise = this.promiseOf(() => {
      use = this.use('ask', key);
      return this.answerTo(use, question);
    });
    promise.follow(
      () => use && (use.isOver = true),
      () => use && (use.isOver = true),
    );
    promise.onRace = () =>
      this.wrong(
        'MRTR_RACE',
        `"${key}" is in a Promise.race or Promise.any, which comes out differently from round to round; ask one after the other, or with Promise.all`,
      );
    this.asks.push({ use: use ?? { key, place: {}, isOver: true }, promise });
    return promise;
  }

  /** Runs something once in all rounds of the call, and remembers what came out, as JSON. */
  async step<T>(key: string, work: () => T | Promise<T>): Promise<T> {
    if (this.isLate(key)) return never();
    const use = this.use('step', key);
    try {
      if (Object.hasOwn(this.steps, use.key)) {
        this.recordedLeft--;
        return this.steps[use.key].value as T;
      }
      this.recordedLeft = 0;
      const value = await this.keepBusy(running.run({ round: this, step: key }, async () => work()));
      const kept = this.asJson(use.key, value);
      this.steps[use.key] = { ...kept, after: Object.keys(this.answers).length };
      return kept.value as T;
    } finally {
      use.isOver = true;
    }
  }

  /** The time, in milliseconds: the first round's, in every round that comes by here. */
  now(): number {
    this.assertOutsideSteps('now()');
    const index = this.timesRead++;
    return (this.times[index] ??= Date.now());
  }

  /** A UUID, the same in all rounds. */
  uuid(): string {
    const bytes = this.derive('uuid()');
    bytes[6] = (bytes[6] & 0x0f) | 0x40;
    bytes[8] = (bytes[8] & 0x3f) | 0x80;
    const hex = bytes.toString('hex');
    return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join(
      '-',
    );
  }

  /** From 0 to below 1, the same in all rounds. */
  random(): number {
    return this.derive('random()').readUIntBE(0, 6) / 2 ** 48;
  }

  /** Told what became of the handler's own method, whatever is made of that around it. */
  watch(result: unknown): unknown {
    // Of an Observable, nobody knows yet.
    if (isObservable(result)) return result;
    if (!isThenable(result)) {
      this.outcome = 'value';
      return result;
    }
    void result.then(
      () => (this.outcome = 'value'),
      () => (this.outcome = 'error'),
    );
    return result;
  }

  /**
   * Closes the round: from here on nothing can be asked.
   * @throws MrtrError for a mistake of the handler
   */
  close(): void {
    clearImmediate(this.ending);
    this.over.abort(new RoundEnded());
    this.outcome ??= 'error';
    const { where } = this.options;
    if (this.mistake) throw this.mistake;
    if (this.outcome !== 'value') return;
    const forgotten = this.asks.find(({ promise }) => !promise.isAwaited);
    if (forgotten) {
      throw new MrtrError(
        'MRTR_ASK_NOT_AWAITED',
        `${where} asked "${forgotten.use.key}" and did not await it; its answer would be lost`,
      );
    }
    const left = this.asks.find(({ use }) => !use.isOver || this.open.has(use.key));
    if (left) {
      throw new MrtrError(
        'MRTR_ASK_SWALLOWED',
        `${where} returned although "${left.use.key}" was not answered: a catch around the question took the signal that ends the round, or something else won a race against it; let what it throws pass`,
      );
    }
  }

  /** What there is to ask of the client, in the order in which the handler asked. */
  requests(): Record<string, InputRequest> {
    const requests: Record<string, InputRequest> = {};
    for (const { use } of this.asks) {
      const open = this.open.get(use.key);
      if (open) requests[use.key] = open.prepared.request;
    }
    return requests;
  }

  /** What is to be remembered, with the handler's own state; undefined where there is nothing. */
  remember(state: unknown): Journal | undefined {
    const { answers, steps, times } = this;
    const isUsed =
      this.asks.length + Object.keys(answers).length + Object.keys(steps).length + times.length > 0;
    if (!isUsed && !this.isIdUsed && state === undefined) return undefined;
    const open: Record<string, OpenQuestion> = {};
    for (const [key, { prepared }] of this.open) {
      open[key] = { method: prepared.request.method, fingerprint: prepared.fingerprint };
    }
    const { id, version, rounds } = this.journal;
    return {
      id,
      version,
      rounds: rounds + 1,
      ...(this.isIdUsed && { isIdUsed: true }),
      answers,
      open,
      steps,
      times,
      ...(state !== undefined && { state }),
    };
  }

  private promiseOf<A>(work: () => Promise<A>): AskPromise<A> {
    return new AskPromise<A>((resolve, reject) => {
      try {
        work().then(resolve, reject);
      } catch (error) {
        reject(error);
      }
    });
  }

  private async answerTo<A>({ key }: Use, question: InputQuestion<A>): Promise<A> {
    const prepared = await this.keepBusy(question.prepare());
    const recorded = Object.hasOwn(this.answers, key) ? this.answers[key] : undefined;
    if (recorded && this.isStillAsked(key, recorded, prepared)) {
      this.recordedLeft--;
      return prepared.read(recorded.answer);
    }
    this.recordedLeft = 0;
    const { askNow } = this.options;
    if (!askNow) return this.askInNextRound(key, prepared);
    const answer = await askNow(prepared.request, this.over.signal);
    const { request, fingerprint } = prepared;
    this.answers[key] = { method: request.method, fingerprint, answer };
    return prepared.read(answer);
  }

  /** Whether an answer is one to this question. Consent to one thing is none to another. */
  private isStillAsked(
    key: string,
    recorded: RecordedAnswer,
    { request, fingerprint }: PreparedQuestion,
  ): boolean {
    const { where, onMismatch } = this.options;
    if (recorded.method !== request.method) {
      throw this.wrong(
        'MRTR_KIND_CHANGED',
        `${where} asked ${recorded.method} as "${key}" in an earlier round, and now ${request.method}; give each question a key of its own`,
      );
    }
    if (recorded.fingerprint === fingerprint) return true;
    if (onMismatch === 'error') {
      throw this.wrong(
        'MRTR_QUESTION_CHANGED',
        `${where} asked something else as "${key}" in an earlier round (expected ${recorded.fingerprint}, found ${fingerprint}): a question may only depend on the arguments, on answers, on steps and on ctx.now(), uuid() and random(); or set "mrtr.onMismatch" to "reask"`,
      );
    }
    this.forget(key);
    return false;
  }

  /**
   * Forgets an answer and all that came after it: what was said next may have been said because of it. What was done since
   * cannot be undone.
   */
  private forget(key: string): void {
    const keys = Object.keys(this.answers);
    const index = keys.indexOf(key);
    const done = Object.keys(this.steps).find(step => this.steps[step].after > index);
    if (done !== undefined) {
      throw this.wrong(
        'MRTR_QUESTION_CHANGED',
        `${this.options.where} asks something else as "${key}" than in an earlier round, and the step "${done}" has been done since; the call has to begin anew`,
      );
    }
    for (const later of keys.slice(index)) delete this.answers[later];
  }

  private askInNextRound<A>(key: string, prepared: PreparedQuestion<A>): Promise<A> {
    return new Promise<A>((_, reject) => {
      if (this.outcome !== undefined) return reject(new RoundEnded());
      this.open.set(key, { prepared, end: reject });
      this.endSoon();
    });
  }

  /** What is asked in the same turn of the event loop is one round. */
  private endSoon(): void {
    this.ending ??= setImmediate(() => {
      this.ending = undefined;
      if (this.busy.size > 0 && !this.options.signal.aborted) {
        void this.idle().then(() => this.endSoon());
        return;
      }
      this.isEnded = true;
      this.endOpen([...this.open.values()].reverse());
    });
  }

  /** Settles once nothing runs whose result is to be remembered, or the client is gone. */
  private idle(): Promise<unknown> {
    const { signal } = this.options;
    const gone = new Promise(resolve => signal.addEventListener('abort', resolve, { once: true }));
    return Promise.race([gone, Promise.allSettled(this.busy)]);
  }

  /**
   * What the handler waits for is most likely what it asked last. Once it has ended, the others are left as they are: to
   * reject what nobody takes would be an unhandled rejection.
   */
  private endOpen([ask, ...others]: readonly OpenAsk[]): void {
    if (ask === undefined || this.outcome !== undefined) return;
    ask.end(new RoundEnded());
    setImmediate(() => this.endOpen(others));
  }

  private async keepBusy<T>(work: Promise<T>): Promise<T> {
    this.busy.add(work);
    try {
      return await work;
    } finally {
      this.busy.delete(work);
    }
  }

  /** Notes the use of a key. Where one comes by again, in a loop, it is counted; but never on two paths at a time. */
  private use(kind: 'ask' | 'step', key: string): Use {
    const { where } = this.options;
    this.assertOpen(`"${key}"`);
    if (typeof key !== 'string' || !KEY.test(key) || key === '__proto__') {
      throw this.wrong(
        'MRTR_INVALID_KEY',
        `${where} used ${JSON.stringify(key)} as a key; one has a letter first, and up to 100 letters, digits and _ . : / -`,
      );
    }
    const earlier = this.uses[kind].get(key) ?? [];
    const place: Place = {};
    // From whoever called `ask` or `step` on: what lies between is not the author's.
    Error.captureStackTrace(place, Reflect.get(Round.prototype, kind));
    const rival = earlier.find(({ isOver }) => !isOver);
    if (rival) {
      throw this.wrong(
        'MRTR_DUPLICATE_KEY',
        `${where} used "${key}" twice at a time, at ${lineOf(rival.place)} and at ${lineOf(place)}; give each its own key`,
      );
    }
    const use: Use = {
      key: earlier.length === 0 ? key : `${key}#${earlier.length + 1}`,
      isOver: false,
      place,
    };
    this.uses[kind].set(key, [...earlier, use]);
    return use;
  }

  /** @throws MrtrError, or RoundEnded where nobody waits any more */
  private assertOpen(what: string): void {
    this.assertOutsideSteps(what);
    if (this.outcome === 'error') throw new RoundEnded();
    if (this.isEnded) throw new RoundEnded();
  }

  private assertOutsideSteps(what: string): void {
    const current = running.getStore();
    if (current?.round !== this) return;
    throw this.wrong(
      'MRTR_ASK_IN_STEP',
      `${this.options.where} used ${what} within the step "${current.step}"; a step runs once and asks nothing`,
    );
  }

  /** Whether the handler has returned, so that nobody waits for an answer and nobody would take an error. */
  private isLate(key: string): boolean {
    if (this.outcome !== 'value') return false;
    const { where, onMistake } = this.options;
    onMistake(
      new MrtrError('MRTR_ASK_AFTER_RETURN', `${where} used "${key}" after it had returned; await it before`),
    );
    return true;
  }

  private wrong(code: MrtrErrorCode, message: string): MrtrError {
    this.mistake ??= new MrtrError(code, message);
    return this.mistake;
  }

  /** A value as it will be in the next round, so that this one sees no other. */
  private asJson(key: string, value: unknown): { value?: unknown } {
    try {
      return JSON.parse(JSON.stringify({ value })) as { value?: unknown };
    } catch (error) {
      throw this.wrong(
        'MRTR_STEP_RESULT',
        `the step "${key}" of ${this.options.where} returned what JSON cannot hold: ${(error as Error).message}`,
      );
    }
  }

  private derive(what: string): Buffer {
    this.assertOutsideSteps(what);
    this.isIdUsed = true;
    return createHash('sha256').update(`${this.journal.id}:${this.derived++}`).digest();
  }
}

/** The line of the handler that calls: the first that is neither the context's nor the platform's. */
const lineOf = ({ stack = '' }: Place): string =>
  stack
    .split('\n')
    .slice(1)
    .find(line => !/[\\/]mcp-context\.|\(<anonymous>\)/.test(line))
    ?.trim()
    .replace(/^at /, '') ?? 'an unknown place';

const isThenable = (value: unknown): value is PromiseLike<unknown> =>
  typeof (value as PromiseLike<unknown> | undefined)?.then === 'function';

/** The journal of a call that begins. */
export const newJournal = (version: string): Journal => ({
  id: randomUUID(),
  version,
  rounds: 0,
  answers: {},
  open: {},
  steps: {},
  times: [],
});
