import type { InputRequest } from '@modelcontextprotocol/server';

/** Asks the client while the handler waits, in as many rounds as a call may have. */
export class LiveAsker {
  private begun: number;
  private open = 0;
  private refusal?: Error;

  /**
   * @param rounds the number of ended rounds
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

  async ask(key: string, request: InputRequest, over: AbortSignal): Promise<unknown> {
    // Questions that are open together belong to one round.
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
