import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import { McpErrorCode, McpException } from '../exceptions/mcp.exception.js';
import { CallerLimit, type Caps, type Counting, type LimitReached } from './caller-limit.js';
import type { McpCall, ReplyChannel } from './mcp-call.js';
import type { Abortion } from './observation.js';

/** Time for handlers to clean up after their signals abort, and for the last answers to be sent, in milliseconds. */
export const SHUTDOWN_GRACE_MS = 500;

/**
 * A shared timer checks all calls, so that calls do not need their own timers. A call times out after this many checks.
 */
const LOOKS = 20;

/** Bounds on running calls. */
export interface CallBounds extends Caps {
  /**
   * How long a call may run without progress, and its handler after that, in milliseconds. With 0, calls have no time
   * limit.
   */
  readonly timeoutMs: number;
  /** For all handlers that still run after that. */
  readonly maxHanging: number;
}

/** Called with the calls that passed a bound of time at the same check. */
export interface LateCalls {
  /** The calls ran for too long, and were answered with an error. */
  overdue(calls: readonly RunningCall[]): void;
  /** The handlers went on for too long after their calls had ended. They no longer count as running. */
  hanging(calls: readonly RunningCall[]): void;
}

/** A running call, seen by its handler and by a shutdown. */
export abstract class RunningCall implements ReplyChannel {
  private ending?: AbortController;
  private ended?: { readonly reason: unknown };
  private asking = 0;
  private isClosing = false;
  private isOpen = false;
  /** The number of timer checks since the call began, made progress or ended. */
  private looks = 0;
  /** What is called, for the log. */
  called?: Pick<McpCall, 'method' | 'params'>;
  observation?: ReplyChannel['observation'];

  /** @param caller the key of the caller in the limits; see `limitKeyOf` */
  constructor(readonly caller: string) {}

  abstract notify(method: string, params: Record<string, unknown>): Promise<void>;

  /** Answers with an error, even if the handler still runs. */
  protected abstract fail(error: McpException): void;

  /** Created on demand, because most handlers never read it. */
  get signal(): AbortSignal {
    if (!this.ending) {
      this.ending = new AbortController();
      if (this.ended) this.ending.abort(this.ended.reason);
    }
    return this.ending.signal;
  }

  /** Aborts the call, because its answer is no longer needed. */
  abort(reason?: unknown, aborted: Abortion = 'cancelled'): void {
    if (this.ended) return;
    this.ended = { reason };
    this.looks = 0;
    this.observation?.end({ error: reason, aborted });
    this.ending?.abort(reason);
  }

  /** Sends a request to the client and waits for its answer. During a shutdown, the call ends instead. */
  protected async asked<T>(send: () => Promise<T>): Promise<T> {
    this.asking += 1;
    try {
      if (this.isClosing) this.end();
      return await send();
    } finally {
      this.asking -= 1;
    }
  }

  /** Whether the answer is sent, or no longer needed. */
  get isEnded(): boolean {
    return this.ended !== undefined;
  }

  stayOpen(): ReplyChannel['notify'] {
    this.isOpen = true;
    this.observation?.end({ result: {} });
    return (method, params) => this.notify(method, params);
  }

  /** Restarts the deadline, because the handler makes progress. */
  extend(): void {
    if (!this.ended) this.looks = 0;
  }

  /**
   * Checks the call's time. @returns whether the call has run for too long, without the time spent waiting for its
   * client; or, if it has ended, whether its handler has run for too long since then
   */
  look(): boolean {
    return (this.ended !== undefined || this.asking === 0) && ++this.looks > LOOKS;
  }

  /** Ends the call if it waits for its client, now or later. */
  refuseAsking(): void {
    this.isClosing = true;
    if (this.asking > 0) this.end();
  }

  /** Aborts the signal, and answers with an error. An open reply ends with its result instead. */
  end(error = shuttingDown(), aborted: Abortion = 'shutdown'): void {
    this.abort(error, aborted);
    if (!this.isOpen) this.fail(error);
  }
}

/** Running work that a shutdown waits for. */
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

  /** Waits until no work runs, at most for `timeoutMs` milliseconds. */
  async idle(timeoutMs: number): Promise<void> {
    if (this.work.size === 0) return;
    const over = new AbortController();
    const late = pause(timeoutMs, undefined, { signal: over.signal }).catch(() => undefined);
    await Promise.race([late, new Promise<void>(resolve => (this.whenIdle = resolve))]);
    over.abort();
  }
}

/** The calls whose replies stay open. They have no deadline, and a shutdown does not wait for their clients. */
export class OpenReplies extends RunningWork<RunningCall> {
  private isClosing = false;

  /** @throws McpException (-32000) if the server shuts down */
  override add(call: RunningCall): void {
    if (this.isClosing) throw shuttingDown();
    super.add(call);
  }

  /** Ends all calls, and waits until their results are written. */
  close(): Promise<void> {
    this.isClosing = true;
    for (const call of this.work) call.end();
    return this.idle(SHUTDOWN_GRACE_MS);
  }
}

/** The running calls of a server. It limits their number and time; a shutdown waits for them up to a deadline. */
export class RunningCalls extends RunningWork<RunningCall> {
  readonly limit: CallerLimit;
  /** The calls whose handlers do not end. They hold no place in `limit`, and a shutdown does not wait for them. */
  readonly hanging: CallerLimit;
  private readonly hung = new WeakSet<RunningCall>();
  private looking?: NodeJS.Timeout;
  /** Whether the server shuts down and refuses new calls. */
  isClosing = false;

  constructor(
    private readonly bounds: CallBounds,
    private readonly late: LateCalls,
    counting?: Counting,
  ) {
    super();
    this.limit = new CallerLimit('calls', bounds, { counting });
    const { maxHanging: max } = bounds;
    // No caller alone makes the server refuse the calls of all.
    this.hanging = new CallerLimit('calls that do not end', { max, maxPerCaller: Math.ceil(max / 2) });
  }

  /** @throws McpException (-32000) if the server shuts down or too many calls run */
  override add(call: RunningCall): void {
    if (this.isClosing) throw shuttingDown();
    const refusal = this.hanging.refusal(call.caller) ?? this.limit.take(call.caller);
    if (refusal) throw refusal;
    this.work.add(call);
    this.looking ??= this.startLooking();
  }

  /** The refusal of `count` further calls; undefined if they are within the caps. */
  refusal(caller: string, count = 1): LimitReached | undefined {
    return this.hanging.refusal(caller) ?? this.limit.refusal(caller, count);
  }

  override delete(call: RunningCall): void {
    if (this.hung.delete(call)) return this.hanging.release(call.caller);
    // Refused calls are not counted.
    if (!this.work.has(call)) return;
    this.limit.release(call.caller);
    super.delete(call);
  }

  /** Refuses new calls, and ends calls that wait for their client. */
  close(): void {
    if (this.isClosing) return;
    this.isClosing = true;
    for (const call of this.work) call.refuseAsking();
  }

  /**
   * Waits for calls up to `timeoutMs` milliseconds, and ends the remaining calls.
   * @returns the number of ended calls
   */
  async shutDown(timeoutMs: number): Promise<number> {
    this.close();
    await this.idle(timeoutMs);
    const left = [...this.work];
    for (const call of left) call.end();
    // The transports may close their streams only after the answers are written.
    await nextTurn();
    return left.length;
  }

  /** One timer serves all calls. It stops when no call runs. */
  private startLooking(): NodeJS.Timeout | undefined {
    const { timeoutMs } = this.bounds;
    return timeoutMs === 0 ? undefined : setInterval(() => this.look(), timeoutMs / LOOKS).unref();
  }

  private look(): void {
    const late = [...this.work].filter(call => call.look());
    const hanging = late.filter(({ isEnded }) => isEnded);
    const overdue = late.filter(({ isEnded }) => !isEnded);
    for (const call of overdue) call.end(tooLong(this.bounds.timeoutMs), 'timeout');
    for (const call of hanging) this.letHang(call);
    if (overdue.length > 0) this.late.overdue(overdue);
    if (hanging.length > 0) this.late.hanging(hanging);
    if (this.work.size > 0) return;
    clearInterval(this.looking);
    this.looking = undefined;
  }

  /** Gives the call's place to a further call. */
  private letHang(call: RunningCall): void {
    this.delete(call);
    this.hung.add(call);
    this.hanging.take(call.caller, 1, true);
  }
}

const shuttingDown = (): McpException =>
  new McpException(McpErrorCode.Refused, 'The server is shutting down');

const tooLong = (timeoutMs: number): McpException =>
  new McpException(McpErrorCode.Refused, `The call did not finish within ${timeoutMs} ms`);
