/**
 * A promise that detects `await`, and refuses `Promise.race` and `Promise.any`: the winner of a race could change with each
 * replay, depending on the answers of each round.
 */
export class AskPromise<T> extends Promise<T> {
  isAwaited = false;
  /** Called for each `await` and `then`. @throws Error if the promise must not be awaited there */
  onAwait?: () => void;
  onRace?: () => Error;
  private isChaining = false;

  override then<A = T, B = never>(
    onFulfilled?: ((value: T) => A | PromiseLike<A>) | null,
    onRejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    this.awaited();
    if (this.onRace && isRaced()) throw this.onRace();
    return this.chain(onFulfilled, onRejected);
  }

  /** Follows the promise without counting as `await`. Its rejection counts as handled. */
  follow(onFulfilled: (value: T) => void, onRejected: (reason: unknown) => void = () => undefined): void {
    void this.chain(onFulfilled, onRejected);
  }

  /** Called when something reads the constructor: `await` reads nothing else of a promise whose constructor is `Promise`. */
  read(): void {
    if (!this.isChaining) this.awaited();
  }

  private awaited(): void {
    this.isAwaited = true;
    this.onAwait?.();
  }

  private chain<A, B>(
    onFulfilled?: ((value: T) => A | PromiseLike<A>) | null,
    onRejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    // The platform's `then` reads the constructor, too.
    this.isChaining = true;
    const next = super.then(onFulfilled, onRejected);
    this.isChaining = false;
    return next;
  }
}

// Chained promises are ordinary promises, because their constructor is.
function constructorOf(this: AskPromise<unknown>): PromiseConstructor {
  this.read();
  return Promise;
}

Reflect.defineProperty(AskPromise.prototype, 'constructor', { configurable: true, get: constructorOf });

const callSites = (_error: Error, sites: NodeJS.CallSite[]): NodeJS.CallSite[] => sites;

/**
 * Whether the platform's `race` or `any` called `then`. Only the stack tells them from `Promise.all`. The text of a stack
 * would take longer than the stack.
 */
function isRaced(): boolean {
  const { stackTraceLimit } = Error;
  const prepareStackTrace = Reflect.get(Error, 'prepareStackTrace');
  const frames: { stack?: unknown } = {};
  Error.stackTraceLimit = 1;
  Error.prepareStackTrace = callSites;
  Error.captureStackTrace(frames, Reflect.get(AskPromise.prototype, 'then'));
  // Read before the formatter changes back.
  const [caller] = frames.stack as (NodeJS.CallSite | undefined)[];
  Error.stackTraceLimit = stackTraceLimit;
  Error.prepareStackTrace = prepareStackTrace;
  // Only functions of the platform have no file.
  if (!caller || caller.getFileName()) return false;
  const name = caller.getFunctionName();
  return name === 'race' || name === 'any';
}
