import { InputRequiredException } from './input-required.exception.js';
import type { Round } from './round.js';

/** The round of a call, which is made once the handler has something to do with it: most calls ask nothing. */
export class CurrentRound {
  private round?: Round;
  private returned?: { readonly result: unknown };
  private isClosed = false;
  /** What the handler's own method threw, whatever is made of it around it. */
  asked?: InputRequiredException;

  constructor(private readonly make: () => Round) {}

  /** Undefined where the handler has not used it yet. */
  get ifAny(): Round | undefined {
    return this.round;
  }

  /** The round, from now on at the latest. */
  begin(): Round {
    if (!this.round) {
      this.round = this.make();
      if (this.isClosed) this.round.watch(undefined);
      else if (this.returned) this.round.watch(this.returned.result);
    }
    return this.round;
  }

  /**
   * Ends it: from here on nothing can be asked.
   * @throws MrtrError for a mistake of the handler
   */
  close(): void {
    this.isClosed = true;
    this.round?.close();
  }

  /** Told what the handler's own method returned; hands it on. */
  watch(result: unknown): unknown {
    this.returned = { result };
    this.round?.watch(result);
    if (result instanceof Promise) {
      result.catch((thrown: unknown) => {
        if (thrown instanceof InputRequiredException) this.asked = thrown;
      });
    }
    return result;
  }
}
