import type { SessionAnswer } from './session-answer.js';

/** How often the node looks for a client before it gives up its calls. */
const LOOKS = 10;

/** The calls of a session whose connections broke. They are given up if no client comes back to the session. */
export class LeftCalls {
  /** The number of looks since a client was there. Below 0, the client was asked to stay away for longer. */
  private readonly looks = new Map<SessionAnswer, number>();
  private looking?: NodeJS.Timeout;

  /**
   * @param resumeMs how long a client may stay away, in milliseconds; false for any time
   * @param isAttended whether a client is there, as far as this node knows. If it returns false, it asks the other nodes
   */
  constructor(
    private readonly resumeMs: number | false,
    private readonly isAttended: () => boolean,
    private readonly giveUp: (answer: SessionAnswer) => void,
  ) {}

  add(answer: SessionAnswer): void {
    const { resumeMs } = this;
    if (resumeMs === false || answer.isOver) return;
    this.restart(answer, resumeMs);
    this.looking ??= setInterval(() => this.look(), resumeMs / LOOKS).unref();
  }

  /** Restarts the time, because a client is there. */
  attended(): void {
    const { resumeMs } = this;
    if (resumeMs !== false) for (const answer of this.looks.keys()) this.restart(answer, resumeMs);
  }

  close(): void {
    clearInterval(this.looking);
    this.looks.clear();
  }

  private restart(answer: SessionAnswer, resumeMs: number): void {
    const paused = Math.ceil((answer.pausedMs * LOOKS) / resumeMs);
    // Counts once. What is left of it stays, for a client that sends something else in the meantime.
    answer.pausedMs = 0;
    this.looks.set(answer, Math.min(this.looks.get(answer) ?? 0, -paused));
  }

  private look(): void {
    if (this.isAttended()) this.attended();
    for (const [answer, looks] of this.looks) {
      if (!answer.isOver && looks < LOOKS) this.looks.set(answer, looks + 1);
      else {
        this.looks.delete(answer);
        if (!answer.isOver) this.giveUp(answer);
      }
    }
    if (this.looks.size > 0) return;
    clearInterval(this.looking);
    this.looking = undefined;
  }
}
