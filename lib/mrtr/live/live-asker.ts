import type { InputRequest } from '@modelcontextprotocol/server';

/** Asks the client while the handler waits, in as many rounds as a call may have. */
export class LiveAsker {
  private begun: number;
  private open = 0;
  private refusal?: Error;

  /**
   * @param rounds how many have ended
   * @param tooMany makes the error for a question past the last round; called once
   */
  constructor(
    public rounds: number,
    private readonly maxRounds: number,
    private readonly tooMany: (key: string, round: number) => Error,
    private readonly send: (request: InputRequest, over: AbortSignal) => Promise<unknown>,
  ) {
    this.begun = rounds;
  }

  /** @throws what `tooMany` makes, where there were too many rounds; whatever `send` throws */
  async ask(key: string, request: InputRequest, over: AbortSignal): Promise<unknown> {
    // What is asked while something else is open belongs to the same round.
    if (this.open === 0) {
      if (this.begun >= this.maxRounds) throw (this.refusal ??= this.tooMany(key, this.begun + 1));
      this.begun++;
    }
    this.open++;
    try {
      const answer = await this.send(request, over);
      this.rounds = this.begun;
      return answer;
    } finally {
      this.open--;
    }
  }
}
