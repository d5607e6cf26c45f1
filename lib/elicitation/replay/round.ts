import type { InputRequest } from '@modelcontextprotocol/server';
import type { LiveAsker } from '../live/pending-requests.js';
import { LazyAbort } from '../../util/abort.js';
import { AskPromise } from './ask-promise.js';
import { TypedInputRequest, readRequest } from '../requests/input-request.js';
import type { InputRequiredOptions } from '../requests/input-required.exception.js';
import type { ReplyChannel } from '../../protocol/mcp-call.js';
import { copyOf, type Journal } from './journal.js';
import type { Jsonify } from '../requests/jsonify.js';
import { CallKeys, type Frames, framesAbove, type Use } from './call-keys.js';
import { MrtrError, type MrtrErrorCode } from '../mrtr.error.js';
import type { OnMismatch } from '../mrtr-options.js';
import { AbandonedHandler, OpenRequests } from './open-requests.js';
import { ReplayLog } from './replay-log.js';
import { mayBeLeft, RoundEnded } from '../requests/round-ended.js';
import { DeterministicValues } from './deterministic-values.js';
import { Steps } from './steps.js';

export interface RoundOptions {
  readonly where: string;
  readonly onMismatch: OnMismatch;
  /** The channel to the client. Its signal is read only if needed. */
  readonly reply: Pick<ReplyChannel, 'signal'>;
  /** Receives a mistake that can no longer be thrown. */
  readonly onMistake: (mistake: MrtrError) => void;
  /** @throws Error if the input request cannot end the round */
  readonly assertAskable: (request: InputRequest) => void;
  /** What asks the client during the round, if the call can do so now. */
  readonly asker?: () => LiveAsker | undefined;
  /** Called after each answer and step. The handler waits for it. */
  readonly onRecord?: (record: () => Journal) => Promise<void>;
}

/** Never settles: a rejection of a promise without a reader would end the process. */
const never = (): Promise<never> => new Promise(() => undefined);

interface Ask {
  readonly use: Use;
  readonly promise: AskPromise<unknown>;
  /** Whether an enhancer around the handler asks, after the handler's method has ended. */
  readonly isAround: boolean;
}

export type Outcome = 'value' | 'error';

/**
 * One run of a handler that asks with `await ctx.elicit(…)`. Recorded answers return at once. An unanswered input request
 * ends the round, and the handler runs again with the answer, in any process.
 */
export class Round {
  private readonly keys: CallKeys;
  private readonly log: ReplayLog;
  private readonly deterministic: DeterministicValues;
  private open: OpenRequests;
  /** The steps of all runs. The round does not end before them. */
  private readonly busy = new Set<Promise<unknown>>();
  private asks: Ask[] = [];
  private readonly steps: Steps;
  private rewind: () => void;
  private mistake?: MrtrError;
  private outcome?: Outcome;
  private isClosed = false;
  private readonly abandoned = new AbandonedHandler();
  /** The `requestState` of the latest `InputRequiredException`. */
  state: unknown;
  private over = new LazyAbort();

  constructor(
    private readonly journal: Journal,
    private readonly options: RoundOptions,
  ) {
    const wrong = this.wrong.bind(this);
    const { where, onMismatch, onRecord } = options;
    this.keys = new CallKeys(where, wrong);
    const onAdded = onRecord && (() => onRecord(() => this.record()));
    this.log = new ReplayLog(journal, { where, onMismatch, onAdded }, wrong);
    this.steps = new Steps(this.log, where, wrong);
    this.deterministic = new DeterministicValues(journal);
    this.state = copyOf(journal.state);
    this.open = this.noneOpen();
    this.rewind = this.mark();
  }

  /** The number of earlier rounds, including rounds during which the handler waited. */
  get number(): number {
    return this.options.asker?.()?.rounds ?? this.journal.rounds;
  }

  get isReplaying(): boolean {
    return this.log.isReplaying;
  }

  /** Identifies the call across all its rounds. */
  get id(): string {
    return this.deterministic.id;
  }

  get isOpen(): boolean {
    return this.open.isHandedOut;
  }

  /** Called if the handler still runs after its round. */
  set onLeft(onLeft: (reason: unknown) => void) {
    this.abandoned.onLeft = onLeft;
  }

  /** Asks the client, or returns the client's earlier answer. */
  ask<A>(key: string, make: () => TypedInputRequest<A>): AskPromise<A> {
    if (this.isLate(key)) return new AskPromise<A>(() => undefined);
    const frames = framesAbove(Reflect.get(Round.prototype, 'ask'));
    const isAround = this.outcome !== undefined;
    let use: Use | undefined;
    const promise = this.promiseOf(() => {
      use = this.use('ask', key, frames);
      return this.answerTo(use, make);
    });
    promise.follow(
      () => use && (use.isOver = true),
      () => use && (use.isOver = true),
    );
    // Awaiting inside a step would deadlock: the round waits for the step, and the step would wait for the next round.
    promise.onAwait = () => {
      if (!use?.isOver) this.assertOutsideSteps(`the answer to "${key}"`);
    };
    promise.onRace = () =>
      this.wrong(
        'MRTR_RACE',
        `"${key}" is in a Promise.race or Promise.any, whose winner can differ from round to round; ask one after the other, or use Promise.all`,
      );
    this.asks.push({ use: use ?? { key, place: { frames }, isOver: true }, promise, isAround });
    return promise;
  }

  /** Runs the work in one round only, and records its result as JSON. */
  async step<T>(key: string, work: () => T | Promise<T>): Promise<Jsonify<T>> {
    if (this.isLate(key)) return never();
    const frames = framesAbove(Reflect.get(Round.prototype, 'step'));
    let use: Use;
    try {
      use = this.use('step', key, frames);
    } catch (error) {
      return this.abandoned.refuse(error);
    }
    try {
      return (await this.steps.result(use.key, key, work, done => this.open.after(done))) as Jsonify<T>;
    } finally {
      use.isOver = true;
    }
  }

  now(): number {
    this.assertOutsideSteps('now()');
    return this.deterministic.now();
  }

  uuid(): string {
    this.assertOutsideSteps('uuid()');
    return this.deterministic.uuid();
  }

  random(): number {
    this.assertOutsideSteps('random()');
    return this.deterministic.random();
  }

  /** Called for the first run, and for a retry by a Nest interceptor. @returns false if the round has ended */
  enter(isAgain: boolean): boolean {
    if (this.isOpen || this.mistake) return false;
    if (isAgain) this.rewind();
    else this.rewind = this.mark();
    return true;
  }

  settle(outcome: Outcome): void {
    this.outcome = outcome;
  }

  /**
   * @param outcome of the handler with its enhancers
   * @throws MrtrError for a mistake of the handler
   */
  close(outcome: Outcome): void {
    this.isClosed = true;
    this.over.abort(() => new RoundEnded());
    this.abandoned.close();
    this.outcome ??= 'error';
    const { where } = this.options;
    if (this.mistake) throw this.mistake;
    if (this.abandoned.isLeft && this.isOpen) {
      this.options.onMistake(
        new MrtrError(
          'MRTR_ASK_SWALLOWED',
          `${where} still runs, but its round has gone to the client. It caught the error that "${Object.keys(this.requests())[0]}" throws, awaits a promise that never settles, or has a slow finally block. Do not catch the error that an input request throws`,
        ),
      );
    }
    const asks = this.asks.filter(({ isAround }) => (isAround ? outcome : this.outcome) === 'value');
    const forgotten = asks.find(({ promise }) => !promise.isAwaited);
    if (forgotten) {
      throw new MrtrError(
        'MRTR_ASK_NOT_AWAITED',
        `${where} asked "${forgotten.use.key}" and did not await it; its answer would be lost`,
      );
    }
    const left = asks.find(({ use }) => !use.isOver || this.open.get(use.key));
    if (left) {
      throw new MrtrError(
        'MRTR_ASK_SWALLOWED',
        `${where} returned although "${left.use.key}" was not answered: it caught the error that ends the round, or another promise won a race; do not catch the error that an input request throws`,
      );
    }
  }

  requests(): Record<string, InputRequest> {
    const requests: Record<string, InputRequest> = {};
    for (const { use } of this.asks) {
      const open = this.open.get(use.key);
      if (open) requests[use.key] = open.request;
    }
    return requests;
  }

  /** @throws MrtrError for an input request that cannot be sent */
  requestOf(key: string, request: TypedInputRequest | InputRequest): Promise<InputRequest> {
    return this.sendable(key, async () =>
      request instanceof TypedInputRequest ? (await request.prepare()).request : readRequest(request),
    );
  }

  stepsEnded(): Promise<unknown> {
    return this.open.idle();
  }

  /** The journal of what has been recorded so far, to continue the call in another process. */
  record(): Journal {
    const { answers, steps } = this.log;
    const { times, isIdUsed } = this.deterministic;
    return {
      ...this.journal,
      rounds: this.number,
      ...(isIdUsed && { isIdUsed }),
      answers: { ...answers },
      steps: { ...steps },
      times,
    };
  }

  /** The journal for the next round; undefined if it would be empty. */
  remember({ requestState, inputRequests }: InputRequiredOptions = {}): Journal | undefined {
    const isAwaiting = inputRequests === undefined && requestState === undefined;
    const { given } = this.journal;
    const state = isAwaiting ? this.journal.state : requestState;
    const { answers, steps } = this.log;
    const { times, isIdUsed } = this.deterministic;
    const asked = Object.entries(inputRequests ?? {}).map(([key, { method }]) => [key, method] as const);
    const used = [this.asks, Object.keys(answers), Object.keys(steps), times, asked];
    if (used.every(({ length }) => length === 0) && !isIdUsed && state === undefined) return undefined;
    const { id, version } = this.journal;
    return {
      id,
      version,
      rounds: this.number + 1,
      ...(isIdUsed && { isIdUsed }),
      answers,
      open: this.open.recorded(),
      ...(asked.length > 0 && { asked: Object.fromEntries(asked) }),
      ...(isAwaiting && given && { given }),
      steps,
      times,
      ...(state !== undefined && { state }),
    };
  }

  private noneOpen(): OpenRequests {
    return new OpenRequests({
      reply: this.options.reply,
      over: this.over,
      busy: this.busy,
      hasEnded: () => this.outcome !== undefined,
      onEnd: () => this.abandoned.leaveSoon(),
    });
  }

  private mark(): () => void {
    const rewinds = [this.keys.mark(), this.log.mark(), this.steps.mark(), this.deterministic.mark()];
    const asks = [...this.asks];
    return () => {
      this.over.abort(() => new RoundEnded());
      this.over = new LazyAbort();
      this.open = this.noneOpen();
      this.outcome = undefined;
      this.asks = [...asks];
      for (const rewind of rewinds) rewind();
      this.state = copyOf(this.journal.state);
    };
  }

  private promiseOf<A>(work: () => Promise<A>): AskPromise<A> {
    const refusing = async () => {
      try {
        return await work();
      } catch (error) {
        mayBeLeft(error);
        return this.abandoned.refuse(error);
      }
    };
    return new AskPromise<A>((resolve, reject) => void refusing().then(resolve, reject));
  }

  private async answerTo<A>({ key }: Use, make: () => TypedInputRequest<A>): Promise<A> {
    const prepared = await this.open.after(this.sendable(key, () => make().prepare()));
    const recorded = this.log.answerTo(key, prepared);
    if (recorded) return prepared.read(copyOf(recorded.answer));
    const asker = this.options.asker?.();
    if (!asker) {
      this.options.assertAskable(prepared.request);
      return this.open.add(key, prepared);
    }
    const answer = await asker.ask(key, prepared.request, this.over.signal);
    await this.log.addAnswer(key, prepared, answer);
    return prepared.read(copyOf(answer));
  }

  private async sendable<T>(key: string, make: () => Promise<T>): Promise<T> {
    try {
      return await make();
    } catch (error) {
      const reason = (error as Error).message.replace(/\s+/g, ' ');
      throw new MrtrError(
        'MRTR_INVALID_INPUT_REQUEST',
        `${this.options.where} asks "${key}", which cannot be sent: ${reason}`,
      );
    }
  }

  private use(kind: 'ask' | 'step', key: string, frames: Frames): Use {
    this.assertOpen(`"${key}"`);
    return this.keys.add(kind, key, frames);
  }

  private assertOpen(what: string): void {
    this.assertOutsideSteps(what);
    if (this.isOpen || this.isClosed) throw new RoundEnded();
  }

  private assertOutsideSteps(what: string): void {
    const step = this.steps.current;
    if (step === undefined) return;
    throw this.wrong(
      'MRTR_ASK_IN_STEP',
      `${this.options.where} used ${what} within the step "${step}"; a step runs once and asks nothing`,
    );
  }

  private isLate(key: string): boolean {
    if (!this.isClosed || this.outcome !== 'value') return false;
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
}
