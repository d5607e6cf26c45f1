import { setTimeout as pause } from 'node:timers/promises';
import type { TaskSubscription } from '../connection/task-subscriptions.js';
import type { Params } from '../protocol/mcp-call.js';
import { RETRY_MS } from './limits.js';

/**
 * Listens for tasks of a backend, until the signal aborts. A stream that ends before is opened again.
 * @param open opens one stream
 * @returns the tasks that the backend reports
 */
export async function keepListening(
  open: () => Promise<TaskSubscription>,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const first = await open();
  if (first.taskIds.length > 0) void openAgain(first, open, signal);
  return first.taskIds;
}

/** Ends when the backend has none of the tasks any more. */
async function openAgain(
  first: TaskSubscription,
  open: () => Promise<TaskSubscription>,
  signal: AbortSignal,
): Promise<void> {
  let stream: TaskSubscription | undefined = first;
  let [delay] = RETRY_MS as readonly number[];
  while (stream === undefined || stream.taskIds.length > 0) {
    await stream?.closed;
    await pause(delay, undefined, { signal, ref: false }).catch(() => undefined);
    if (signal.aborted) return;
    stream = await open().catch(() => undefined);
    delay = stream ? RETRY_MS[0] : Math.min(delay * 2, RETRY_MS[1]);
  }
}

type Send = (task: Params) => Promise<void>;

/**
 * Sends the states of tasks to a client, one after the other. Of a task whose state changes while another one is sent,
 * only the last state is kept.
 */
export class TaskReports {
  private readonly waiting = new Map<unknown, Params>();
  private send?: Send;
  private isSending = false;

  /** @param onError called when a state could not be sent */
  constructor(private readonly onError: (error: Error) => void) {}

  add(id: unknown, task: Params): void {
    this.waiting.set(id, task);
    void this.flush();
  }

  /** Sends the states from now on, also those that were added before. */
  open(send: Send): void {
    this.send = send;
    void this.flush();
  }

  private async flush(): Promise<void> {
    const { waiting, send } = this;
    if (!send || this.isSending) return;
    this.isSending = true;
    // An entry that is added meanwhile comes last.
    for (const [id, task] of waiting) {
      waiting.delete(id);
      await send(task).catch(this.onError);
    }
    this.isSending = false;
  }
}
