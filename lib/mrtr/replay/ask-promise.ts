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
    return super.then(onFulfilled, onRejected);
  }

  /** Follows the promise without counting as `await`. Its rejection counts as handled. */
  follow(onFulfilled: (value: T) => void, onRejected: (reason: unknown) => void = () => undefined): void {
    void Promise.prototype.then.call(this, onFulfilled as (value: unknown) => void, onRejected);
  }
}

/** Two frames are enough; more are slow. */
function nearestFrames(): string {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 3;
  const { stack = '' } = new Error();
  Error.stackTraceLimit = stackTraceLimit;
  return stack;
}

const RACES = /^\s*at (?:Promise|Function)\.(?:race|any) /m;

// `Promise.race` and `Promise.any` first read a promise's constructor, and only the stack tells them from
// `Promise.all`. The winner of a race could change with each replay, depending on the answers of each round.
Reflect.defineProperty(AskPromise.prototype, 'constructor', {
  configurable: true,
  get(this: AskPromise<unknown>) {
    if (this.onRace && RACES.test(nearestFrames())) throw this.onRace();
    return AskPromise;
  },
});
