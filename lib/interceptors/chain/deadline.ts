import { MAX_TIMER_MS } from '../../constants.js';
import type { Clock } from './clock.js';

/** What is waited for until a moment on the clock. */
export interface Watched {
  readonly deadline: number;
  readonly isEnded: boolean;
  giveUp(): void;
}

/**
 * Watches the deadlines of one run with one timer and one listener, which are set only once something is really waited
 * for: most local interceptors have answered before either would be of use.
 */
export class DeadlineWatch {
  private watched: Watched[] = [];
  private isListening = false;
  private stopTimer?: () => void;
  private timerAt = Infinity;
  private isOver = false;

  /** @param signal gives the run up */
  constructor(
    private readonly clock: Clock,
    private signal?: AbortSignal,
  ) {}

  /** Whether the whole run has been given up. */
  get isGivenUp(): boolean {
    return this.isOver || (this.signal?.aborted ?? false);
  }

  /** Gives it up when its time comes or the whole run is given up, unless it has ended before. */
  add(watched: Watched): void {
    // Its signal has fired already, and does so only once.
    if (this.isGivenUp) return watched.giveUp();
    this.watched.push(watched);
    if (watched.deadline < this.timerAt) this.arm(watched.deadline);
    this.listen();
  }

  /** Goes on watching, but not the signal: a call's fires on some transports as soon as it has been answered. */
  detach(): void {
    if (this.isListening) this.signal?.removeEventListener('abort', this);
    this.signal = undefined;
  }

  /** Gives the run up. */
  giveUp(): void {
    this.isOver = true;
    this.handleEvent();
  }

  /** Stops watching. */
  close(): void {
    this.watched = [];
    this.stopTimer?.();
    if (this.isListening) this.signal?.removeEventListener('abort', this);
  }

  private listen(): void {
    if (this.isListening) return;
    this.isListening = true;
    this.signal?.addEventListener('abort', this, { once: true });
  }

  /** The signal has fired. */
  handleEvent(): void {
    for (const watched of this.waiting()) watched.giveUp();
    this.close();
  }

  private arm(deadline: number): void {
    this.stopTimer?.();
    this.timerAt = deadline;
    const ms = Math.max(0, deadline - this.clock.now());
    // Too long for one timer, it is set again when that one is up.
    this.stopTimer = this.clock.after(Math.min(ms, MAX_TIMER_MS), () => this.onTimer());
  }

  private onTimer(): void {
    this.timerAt = Infinity;
    const now = this.clock.now();
    for (const watched of this.waiting()) if (watched.deadline <= now) watched.giveUp();
    this.watched = this.waiting();
    const next = Math.min(...this.watched.map(({ deadline }) => deadline));
    if (next !== Infinity) this.arm(next);
  }

  private waiting(): Watched[] {
    return this.watched.filter(({ isEnded }) => !isEnded);
  }
}
