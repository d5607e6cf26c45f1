import type { InputRequest } from '@modelcontextprotocol/server';
import { tooManyRounds } from './refusals.js';

/** Asks the client while the handler waits, in as many rounds as a call may have. */
export class Asker {
  private begun: number;
  private open = 0;

  /** @param rounds how many have ended */
  constructor(
    public rounds: number,
    private readonly maxRounds: number,
    private readonly send: (request: InputRequest, over: AbortSignal) => Promise<unknown>,
  ) {
    this.begun = rounds;
  }

  /** @throws McpException where there were too many rounds; whatever `send` throws */
  async ask(request: InputRequest, over: AbortSignal): Promise<unknown> {
    // What is asked while something else is open belongs to the same round.
    if (this.open === 0) {
      if (this.begun >= this.maxRounds) throw tooManyRounds(this.maxRounds);
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
