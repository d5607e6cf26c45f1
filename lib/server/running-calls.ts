import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import { McpErrorCode, McpException } from '../exceptions/mcp.exception.js';

/** How long handlers have to clean up after their signals fired, and the last answers to be sent, in milliseconds. */
export const SHUTDOWN_GRACE_MS = 500;

/** One call that is being answered. */
export class RunningCall {
  private readonly ending = new AbortController();
  private asking = 0;
  private isOver = false;

  /**
   * @param signal fires when the client cancels the call or goes away
   * @param fail answers the call with an error
   */
  constructor(
    signal: AbortSignal,
    private readonly fail: (error: McpException) => void,
  ) {
    if (signal.aborted) this.ending.abort(signal.reason);
    else signal.addEventListener('abort', () => this.ending.abort(signal.reason), { once: true });
  }

  /** Fires when nobody waits for the result any more: the client cancelled or went away, or the shutdown's time is up. */
  get signal(): AbortSignal {
    return this.ending.signal;
  }

  /** Waits for an answer of the client, which a server that shuts down does not do. */
  async ask<T>(send: () => Promise<T>): Promise<T> {
    this.asking += 1;
    try {
      if (this.isOver) this.end();
      return await send();
    } finally {
      this.asking -= 1;
    }
  }

  /** From now on, the call must not wait for its client. */
  refuseAsking(): void {
    this.isOver = true;
    if (this.asking > 0) this.end();
  }

  /** Fires the signal, and answers with an error. */
  end(): void {
    const error = shuttingDown();
    this.ending.abort(error);
    this.fail(error);
  }
}

/** Calls that run: a shutdown lets them finish, for a time. */
export class RunningCalls {
  private readonly calls = new Set<RunningCall>();
  private readonly running = new Set<Promise<unknown>>();
  private isClosed = false;

  /** Whether the server shuts down, and so answers nothing new. */
  get isClosing(): boolean {
    return this.isClosed;
  }

  /**
   * Runs a call.
   * @throws McpException (-32000) when the server shuts down; whatever `work` throws
   */
  run<T>(signal: AbortSignal, work: (call: RunningCall) => Promise<T>): Promise<T> {
    if (this.isClosed) return Promise.reject(shuttingDown());
    return new Promise((resolve, reject) => {
      const call = new RunningCall(signal, reject);
      const working = work(call).finally(() => this.calls.delete(call));
      this.calls.add(call);
      this.add(working);
      working.then(resolve, reject);
    });
  }

  /** Keeps an eye on one until it settles. */
  add(call: Promise<unknown>): void {
    const ended: Promise<unknown> = call.then(
      () => this.running.delete(ended),
      () => this.running.delete(ended),
    );
    this.running.add(ended);
  }

  /** Takes no more calls, and ends those that wait for their client. */
  close(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    for (const call of this.calls) call.refuseAsking();
  }

  /**
   * Lets calls finish within so many milliseconds, and ends the others.
   * @returns how many it ended
   */
  async shutDown(timeoutMs: number): Promise<number> {
    this.close();
    await this.ended(timeoutMs);
    const left = [...this.calls];
    for (const call of left) call.end();
    // The answers are on their way before anybody closes what they are to take.
    await nextTurn();
    return left.length;
  }

  /**
   * Waits until all have ended, but not longer than so many milliseconds.
   * @returns how many have not
   */
  async ended(timeoutMs: number): Promise<number> {
    const over = new AbortController();
    let isLate = false;
    const late = pause(timeoutMs, undefined, { signal: over.signal }).then(
      () => (isLate = true),
      () => undefined,
    );
    while (this.running.size > 0 && !isLate) await Promise.race([late, Promise.all(this.running)]);
    over.abort();
    return this.running.size;
  }
}

const shuttingDown = (): McpException =>
  new McpException(McpErrorCode.Refused, 'The server is shutting down');
