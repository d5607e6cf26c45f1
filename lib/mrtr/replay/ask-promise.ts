/** A promise that knows whether anybody waits for it, and refuses to be raced. */
export class AskPromise<T> extends Promise<T> {
  /** Whether `then` was called, as `await` and `Promise.all` do. */
  isAwaited = false;
  /** Told where somebody waits for it. @throws Error where nobody may, there */
  onAwait?: () => void;
  /** Told where it is raced. */
  onRace?: () => Error;

  // What is chained to it is an ordinary promise.
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

  /** Follows it without counting as somebody who waits. Its rejection counts as handled from then on. */
  follow(onFulfilled: (value: T) => void, onRejected: (reason: unknown) => void = () => undefined): void {
    void Promise.prototype.then.call(this, onFulfilled as (value: unknown) => void, onRejected);
  }
}

/** Who looks, and who called it: more is not needed, and costs. */
function nearestFrames(): string {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 3;
  const { stack = '' } = new Error();
  Error.stackTraceLimit = stackTraceLimit;
  return stack;
}

const RACES = /^\s*at (?:Promise|Function)\.(?:race|any) /m;

// `Promise.race` and `Promise.any` look at a promise's constructor first, and from within: nothing else tells them from
// `Promise.all`. A race that depends on which answers came with which round would come out differently on each replay.
Reflect.defineProperty(AskPromise.prototype, 'constructor', {
  configurable: true,
  get(this: AskPromise<unknown>) {
    if (this.onRace && RACES.test(nearestFrames())) throw this.onRace();
    return AskPromise;
  },
});
