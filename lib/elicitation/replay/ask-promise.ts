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

// `Promise.race` and `Promise.any` first read a promise's constructor, and only the stack tells them from
// `Promise.all`. The winner of a race could change with each replay, depending on the answers of each round.
function constructorOf(this: AskPromise<unknown>): typeof AskPromise {
  if (this.onRace && isRaced()) throw this.onRace();
  return AskPromise;
}

Reflect.defineProperty(AskPromise.prototype, 'constructor', { configurable: true, get: constructorOf });

const callSites = (_error: Error, sites: NodeJS.CallSite[]): NodeJS.CallSite[] => sites;

/** Whether the platform's `race` or `any` called `constructorOf`. The text of a stack would take longer than the stack. */
function isRaced(): boolean {
  const { stackTraceLimit } = Error;
  const prepareStackTrace = Reflect.get(Error, 'prepareStackTrace');
  const frames: { stack?: unknown } = {};
  Error.stackTraceLimit = 1;
  Error.prepareStackTrace = callSites;
  Error.captureStackTrace(frames, constructorOf);
  // Read before the formatter changes back.
  const [caller] = frames.stack as (NodeJS.CallSite | undefined)[];
  Error.stackTraceLimit = stackTraceLimit;
  Error.prepareStackTrace = prepareStackTrace;
  // Only functions of the platform have no file.
  if (!caller || caller.getFileName()) return false;
  const name = caller.getFunctionName();
  return name === 'race' || name === 'any';
}
