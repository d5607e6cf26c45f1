import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import { McpErrorCode, McpException } from '../exceptions/mcp.exception.js';
import type { ReplyChannel } from './mcp-call.js';

/** How long handlers have to clean up after their signals fired, and the last answers to be sent, in milliseconds. */
export const SHUTDOWN_GRACE_MS = 500;

/** A call that is being answered, as its handler sees it and as a shutdown does. */
export abstract class RunningCall implements ReplyChannel {
  private ending?: AbortController;
  private ended?: { readonly reason: unknown };
  private asking = 0;
  private isClosing = false;

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
  abort(reason?: unknown): void {
    if (this.ended) return;
    this.ended = { reason };
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

  /** From now on, the call must not wait for its client. */
  refuseAsking(): void {
    this.isClosing = true;
    if (this.asking > 0) this.end();
  }

  /** Fires the signal, and answers with an error. */
  end(): void {
    const error = shuttingDown();
    this.abort(error);
    this.fail(error);
  }
}

/** Calls that run: a shutdown lets them finish, for a time. */
export class RunningCalls {
  private readonly calls = new Set<RunningCall | Promise<unknown>>();
  private whenIdle?: () => void;
  private isClosed = false;

  /** Whether the server shuts down, and so answers nothing new. */
  get isClosing(): boolean {
    return this.isClosed;
  }

  /** @throws McpException (-32000) when the server shuts down */
  add(call: RunningCall): void {
    if (this.isClosed) throw shuttingDown();
    this.calls.add(call);
  }

  delete(call: RunningCall | Promise<unknown>): void {
    this.calls.delete(call);
    if (this.calls.size === 0) this.whenIdle?.();
  }

  /** Waits for work that outlasts its call. */
  track(work: Promise<unknown>): void {
    const settled = () => this.delete(work);
    this.calls.add(work);
    work.then(settled, settled);
  }

  /** Takes no more calls, and ends those that wait for their client. */
  close(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    for (const call of this.running()) call.refuseAsking();
  }

  /**
   * Lets calls finish within so many milliseconds, and ends the others.
   * @returns how many it ended
   */
  async shutDown(timeoutMs: number): Promise<number> {
    this.close();
    await this.idle(timeoutMs);
    const left = this.running();
    for (const call of left) call.end();
    // The answers are on their way before anybody closes what they are to take.
    await nextTurn();
    return left.length;
  }

  /** Waits until nothing runs, but not longer than so many milliseconds. */
  async idle(timeoutMs: number): Promise<void> {
    if (this.calls.size === 0) return;
    const over = new AbortController();
    const late = pause(timeoutMs, undefined, { signal: over.signal }).catch(() => undefined);
    await Promise.race([late, new Promise<void>(resolve => (this.whenIdle = resolve))]);
    over.abort();
  }

  private running(): RunningCall[] {
    return [...this.calls].filter(call => call instanceof RunningCall);
  }
}

const shuttingDown = (): McpException =>
  new McpException(McpErrorCode.Refused, 'The server is shutting down');
