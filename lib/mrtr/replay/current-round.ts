import { isInputRequiredResult, type InputRequest } from '@modelcontextprotocol/server';
import { isObservable, tap } from 'rxjs';
import type { CurrentAsking } from '../../input/asking.js';
import type { HandlerRound } from '../../execution/mcp-execution-context.js';
import {
  assertKeys,
  InputRequiredException,
  type InputRequiredOptions,
} from '../../input/input-required.exception.js';
import type { Outcome, Round } from './round.js';
import { isThenable } from '../../util/is-thenable.js';

/** What a handler came to in a round: its value, or what it needs before it can go on. */
export type RoundOutcome<T> = { readonly value: T } | { readonly asking: InputRequiredOptions };

/** The round of a call, which is made once the handler has something to do with it: most calls ask nothing. */
export class CurrentRound implements CurrentAsking, HandlerRound {
  private round?: Round;
  /** The run of the handler's own method that counts, and how it has ended. */
  private ran?: { outcome?: Outcome };
  private isClosed = false;
  private leave?: (reason: unknown) => void;
  private whenLeft?: () => void;
  private hasRun = false;
  /** What the handler's own method threw, whatever is made of it around it. */
  private thrown?: InputRequiredException;

  /** @param onRunning called with what the handler's own method will come to, if that is not known at once */
  constructor(
    private readonly make: () => Round,
    private readonly onRunning: (result: Promise<unknown>) => void,
  ) {}

  /** Undefined where the handler has not used it yet. */
  get ifAny(): Round | undefined {
    return this.round;
  }

  /** The round, from now on at the latest. */
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

  /**
   * Runs a handler for the round, which ends with it; or without it, where the handler goes on although the round has ended.
   * @throws MrtrError for a mistake of the handler; whatever the handler throws
   */
  run<T>(work: () => Promise<T>): Promise<RoundOutcome<T>> {
    return new Promise(resolve => {
      const end = (outcome: () => RoundOutcome<T>) => {
        // What a handler comes to that nobody has waited for is nothing to anybody.
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

  /**
   * Told that the handler is to run: again, where a Nest interceptor retries it.
   * @returns false where it must not, because it has ended the round
   */
  enter(): boolean {
    const isAgain = this.hasRun;
    this.hasRun = true;
    this.ran = undefined;
    return !this.thrown && (this.round?.enter(isAgain) ?? true);
  }

  /** Runs the handler's own method. */
  watch(handler: () => unknown): unknown {
    const result = this.follow(handler);
    if (result instanceof Promise) this.onRunning(result);
    return result;
  }

  private follow(handler: () => unknown): unknown {
    let result: unknown;
    try {
      result = handler();
    } catch (thrown) {
      result = rejecting(thrown);
    }
    // What is only done once somebody waits for it, as a query is, would be done for each that does.
    if (isThenable(result)) result = Promise.resolve(result);
    const run: { outcome?: Outcome } = (this.ran = {});
    const end = (outcome: Outcome) => {
      // What runs again is another run's.
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
    return result.then(followed, (thrown: unknown) => {
      fail(thrown);
      throw thrown;
    });
  }

  /** Resolves once nobody waits for the handler any more, although it goes on. */
  untilLeft(): Promise<void> {
    return new Promise(resolve => (this.whenLeft = resolve));
  }

  /** All that the round asks, by whichever way. @throws MrtrError for what cannot be sent */
  async requests({ inputRequests = {} }: InputRequiredOptions): Promise<Record<string, InputRequest>> {
    assertKeys(inputRequests);
    const round = this.begin();
    const requests = round.requests();
    for (const [key, question] of Object.entries(inputRequests)) {
      if (Object.hasOwn(requests, key)) throw new Error(`"${key}" was asked in two ways at a time`);
      requests[key] = await round.requestOf(key, question);
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

  private close(outcome: 'value' | 'error'): void {
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

const rejecting = (reason: unknown): Promise<never> =>
  Promise.resolve().then(() => {
    throw reason;
  });
