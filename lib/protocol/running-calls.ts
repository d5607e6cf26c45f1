import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import { McpErrorCode, McpException } from '../exceptions/mcp.exception.js';
import { CallerLimit, type Caps } from './caller-limit.js';
import type { ReplyChannel } from './mcp-call.js';
import type { Abortion, Observation } from './traffic.js';

/** How long handlers have to clean up after their signals fired, and the last answers to be sent, in milliseconds. */
export const SHUTDOWN_GRACE_MS = 500;

/** A call may run for so many looks at it: no call needs a timer or a clock. */
const LOOKS = 20;

/** Bounds on calls that run at once. */
export interface CallBounds extends Caps {
  /** How long a call may run without progress, in milliseconds; 0: for ever. */
  readonly timeoutMs: number;
}

/** A call that is being answered, as its handler sees it and as a shutdown does. */
export abstract class RunningCall implements ReplyChannel {
  private ending?: AbortController;
  private ended?: { readonly reason: unknown };
  private asking = 0;
  private isClosing = false;
  /** How often it was looked at since it began, or had progress. */
  private looks = 0;
  /** Undefined if nobody observes the call. */
  protected seen?: Observation;

  /** @param caller the caller in the limits; see `limitKeyOf` */
  constructor(readonly caller: string) {}

  abstract notify(method: string, params: Record<string, unknown>): Promise<void>;

  /** Answers with an error, whatever the handler still does. */
  protected abstract fail(error: McpException): void;

  /** Most handlers never look at it. */
  get signal(): AbortSignal {
    if (!this.ending) {
      this.ending = new AbortController();
      if (this.ended) this.ending.abort(this.ended.reason);
    }
    return this.ending.signal;
  }

  /** Nobody waits for the answer any more. */
  abort(reason?: unknown, aborted: Abortion = 'cancelled'): void {
    if (this.ended) return;
    this.ended = { reason };
    this.seen?.end({ error: reason, aborted });
    this.ending?.abort(reason);
  }

  /** Waits for an answer of the client, which a server that shuts down does not do. */
  protected async asked<T>(send: () => Promise<T>): Promise<T> {
    this.asking += 1;
    try {
      if (this.isClosing) this.end();
      return await send();
    } finally {
      this.asking -= 1;
    }
  }

  /** The handler is still at work. */
  extend(): void {
    this.looks = 0;
  }

  /** Looks at the call. @returns whether it has run for too long, not counting the time that its client took */
  look(): boolean {
    return this.asking === 0 && !this.ended && ++this.looks > LOOKS;
  }

  /** From now on, the call must not wait for its client. */
  refuseAsking(): void {
    this.isClosing = true;
    if (this.asking > 0) this.end();
  }

  /** Fires the signal, and answers with an error. */
  end(error = shuttingDown(), aborted: Abortion = 'shutdown'): void {
    this.abort(error, aborted);
    this.fail(error);
  }
}

/** Work that a shutdown waits for. */
export class RunningWork<T extends object = Promise<unknown>> {
  protected readonly work = new Set<T>();
  private whenIdle?: () => void;

  add(one: T): void {
    this.work.add(one);
  }

  delete(one: T): void {
    this.work.delete(one);
    if (this.work.size === 0) this.whenIdle?.();
  }

  /** Waits until nothing runs, but not longer than so many milliseconds. */
  async idle(timeoutMs: number): Promise<void> {
    if (this.work.size === 0) return;
    const over = new AbortController();
    const late = pause(timeoutMs, undefined, { signal: over.signal }).catch(() => undefined);
    await Promise.race([late, new Promise<void>(resolve => (this.whenIdle = resolve))]);
    over.abort();
  }
}

/** Calls that run. So many may run at once, and for so long; a shutdown lets them finish, for a time. */
export class RunningCalls extends RunningWork<RunningCall> {
  readonly limit: CallerLimit;
  private looking?: NodeJS.Timeout;
  private isClosed = false;

  /** @param onOverdue told how many calls have just been ended, because they ran for too long */
  constructor(
    private readonly bounds: CallBounds,
    private readonly onOverdue: (count: number) => void,
  ) {
    super();
    this.limit = new CallerLimit('calls', bounds);
  }

  /** Whether the server shuts down, and so answers nothing new. */
  get isClosing(): boolean {
    return this.isClosed;
  }

  /** @throws McpException (-32000) when the server shuts down, and for too many calls */
  override add(call: RunningCall): void {
    if (this.isClosed) throw shuttingDown();
    const refusal = this.limit.take(call.caller);
    if (refusal) throw refusal;
    this.work.add(call);
    this.looking ??= this.startLooking();
  }

  override delete(call: RunningCall): void {
    // A call that was refused was not counted.
    if (!this.work.has(call)) return;
    this.limit.release(call.caller);
    super.delete(call);
  }

  /** Takes no more calls, and ends those that wait for their client. */
  close(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    for (const call of this.work) call.refuseAsking();
  }

  /**
   * Lets calls finish within so many milliseconds, and ends the others.
   * @returns how many it ended
   */
  async shutDown(timeoutMs: number): Promise<number> {
    this.close();
    await this.idle(timeoutMs);
    const left = [...this.work];
    for (const call of left) call.end();
    // The answers are on their way before anybody closes what they are to take.
    await nextTurn();
    return left.length;
  }

  /** One timer for all calls, which ends once it finds none. */
  private startLooking(): NodeJS.Timeout | undefined {
    const { timeoutMs } = this.bounds;
    return timeoutMs === 0 ? undefined : setInterval(() => this.look(), timeoutMs / LOOKS).unref();
  }

  private look(): void {
    const overdue = [...this.work].filter(call => call.look());
    for (const call of overdue) call.end(tooLong(this.bounds.timeoutMs), 'timeout');
    if (overdue.length > 0) this.onOverdue(overdue.length);
    if (this.work.size > 0) return;
    clearInterval(this.looking);
    this.looking = undefined;
  }
}

const shuttingDown = (): McpException =>
  new McpException(McpErrorCode.Refused, 'The server is shutting down');

const tooLong = (timeoutMs: number): McpException =>
  new McpException(McpErrorCode.Refused, `The call did not finish within ${timeoutMs} ms`);
