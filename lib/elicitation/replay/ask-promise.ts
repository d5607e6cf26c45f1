import { captureFrames } from '../../util/nearest-frames.js';

/** A promise that detects `await`, and refuses `Promise.race` and `Promise.any`. */
export class AskPromise<T> extends Promise<T> {
  isAwaited = false;
  /** Called for each `then`. @throws Error if the promise must not be awaited there */
  onAwait?: () => void;
  onRace?: () => Error;

  // Chained promises are ordinary promises.
  static override get [Symbol.species](): PromiseConstructor {
    return Promise;
  }

  override then<A = T, B = never>(
    onFulfilled?: ((value: T) => A | PromiseLike<A>) | null,
    onRejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    this.isAwaited = true;
    this.onAwait?.();
    // `super.then` reads the constructor, too.
    const { onRace } = this;
    this.onRace = undefined;
    const next = super.then(onFulfilled, onRejected);
    this.onRace = onRace;
    return next;
  }

  /** Follows the promise without counting as `await`. Its rejection counts as handled. */
  follow(onFulfilled: (value: T) => void, onRejected: (reason: unknown) => void = () => undefined): void {
    void Promise.prototype.then.call(this, onFulfilled as (value: unknown) => void, onRejected);
  }
}

const RACES = /^\s*at (?:Promise|Function)\.(?:race|any) /m;

// `Promise.race` and `Promise.any` first read a promise's constructor, and only the stack tells them from
// `Promise.all`. The winner of a race could change with each replay, depending on the answers of each round.
function constructorOf(this: AskPromise<unknown>): typeof AskPromise {
  if (this.onRace) {
    const caller: { stack?: string } = {};
    captureFrames(caller, 1, constructorOf);
    if (RACES.test(caller.stack ?? '')) throw this.onRace();
  }
  return AskPromise;
}

Reflect.defineProperty(AskPromise.prototype, 'constructor', { configurable: true, get: constructorOf });
