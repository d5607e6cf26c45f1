import { isInputRequiredResult, type InputRequest } from '@modelcontextprotocol/server';
import { isObservable, tap } from 'rxjs';
import {
  assertKeys,
  InputRequiredException,
  type InputRequiredOptions,
} from '../requests/input-required.exception.js';
import type { Journal } from './journal.js';
import type { Outcome, Round } from './round.js';
import { isThenable } from '../../util/async-iterable.js';

export type RoundOutcome<T> = { readonly value: T } | { readonly asking: InputRequiredOptions };

/** The round of a call, created when the handler first uses it, because most calls ask nothing. */
export class CurrentRound {
  private round?: Round;
  /** The latest run of the method, and its outcome. */
  private ran?: { outcome?: Outcome };
  private isClosed = false;
  private leave?: (reason: unknown) => void;
  private whenLeft?: () => void;
  private hasRun = false;
  private thrown?: InputRequiredException;

  /** @param onRunning called with the promise of a handler that is still running */
  constructor(
    private readonly make: () => Round,
    private readonly onRunning: (result: Promise<unknown>) => void,
  ) {}

  /** Undefined until the handler uses it. */
  get ifAny(): Round | undefined {
    return this.round;
  }

  begin(): Round {
    if (!this.round) {
      this.round = this.make();
      this.round.onLeft = reason => this.leave?.(reason);
      if (this.isClosed) {
        this.round.settle('value');
        this.round.close('value');
      } else if (this.ran?.outcome) this.round.settle(this.ran.outcome);
    }
    return this.round;
  }

  /** Runs a handler until it or its round ends. @throws MrtrError for a mistake of the handler */
  run<T>(work: () => Promise<T>): Promise<RoundOutcome<T>> {
    return new Promise(resolve => {
      const end = (outcome: () => RoundOutcome<T>) => {
        // The call does not wait for an abandoned handler.
        if (this.isClosed) return;
        resolve(new Promise(settle => settle(outcome())));
      };
      const fail = (thrown: unknown) => end(() => this.failedWith(thrown));
      this.leave = reason => {
        fail(reason);
        this.whenLeft?.();
      };
      work().then(value => end(() => this.returnedWith(value)), fail);
    });
  }

  /** Called before each run of the method, because a Nest interceptor may retry it. @returns false if it must not run */
  enter(): boolean {
    const isAgain = this.hasRun;
    this.hasRun = true;
    this.ran = undefined;
    return !this.thrown && (this.round?.enter(isAgain) ?? true);
  }

  /** What the call has recorded, as JSON, to continue it in another process. */
  record(): Journal {
    return this.begin().record();
  }

  /** Runs the method, and observes its outcome. */
  watch(handler: () => unknown): unknown {
    let result: unknown;
    try {
      result = handler();
    } catch (thrown) {
      result = Promise.resolve().then(() => {
        throw thrown;
      });
    }
    // Without the wrapper, a lazy thenable such as a query would run once for each `then`.
    if (isThenable(result)) result = Promise.resolve(result);
    const run: { outcome?: Outcome } = (this.ran = {});
    const end = (outcome: Outcome) => {
      // A later run has replaced this run.
      if (this.ran !== run) return;
      run.outcome = outcome;
      this.round?.settle(outcome);
    };
    const fail = (thrown: unknown) => {
      if (thrown instanceof InputRequiredException && this.ran === run) this.thrown = thrown;
      end('error');
    };
    const followed = (value: unknown) => {
      if (isObservable(value)) return value.pipe(tap({ error: fail, complete: () => end('value') }));
      end('value');
      return value;
    };
    if (!(result instanceof Promise)) return followed(result);
    const running = result.then(followed, (thrown: unknown) => {
      fail(thrown);
      throw thrown;
    });
    this.onRunning(running);
    return running;
  }

  /** Resolves when the call ends while the handler still runs. */
  untilLeft(): Promise<void> {
    return new Promise(resolve => (this.whenLeft = resolve));
  }

  /** All input requests of the round. @throws MrtrError for an input request that cannot be sent */
  async requests({ inputRequests = {} }: InputRequiredOptions): Promise<Record<string, InputRequest>> {
    assertKeys(inputRequests);
    const round = this.begin();
    const requests = round.requests();
    for (const [key, request] of Object.entries(inputRequests)) {
      if (Object.hasOwn(requests, key)) throw new Error(`"${key}" was asked in two ways at a time`);
      requests[key] = await round.requestOf(key, request);
    }
    return requests;
  }

  private returnedWith<T>(value: T): RoundOutcome<T> {
    this.close('value');
    const asking = this.askingIn(value);
    return asking ? { asking } : { value };
  }

  private failedWith(thrown: unknown): RoundOutcome<never> {
    this.close('error');
    const asking = this.askingIn(thrown);
    if (asking) return { asking };
    throw thrown;
  }

  private close(outcome: Outcome): void {
    this.isClosed = true;
    this.round?.close(outcome);
  }

  private askingIn(ended: unknown): InputRequiredOptions | undefined {
    const said = this.thrown ?? ended;
    if (said instanceof InputRequiredException) return said;
    if (isInputRequiredResult(said)) return new InputRequiredException(said);
    return this.round?.isOpen ? {} : undefined;
  }
}
