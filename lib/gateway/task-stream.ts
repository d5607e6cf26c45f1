import { setTimeout as pause } from 'node:timers/promises';
import type { TaskSubscription } from '../connection/task-subscriptions.js';
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
