import type { McpCall, ReplyChannel } from '../protocol/mcp-call.js';
import type { OwnSubscription } from '../protocol/server-extension.js';
import { listenedTasks } from '../protocol/tasks.js';
import type { StoredTask } from '../stores/task-store.js';
import type { Tasks } from './tasks.js';
import { taskResult } from './wire.js';

type Notify = ReplyChannel['notify'];

/**
 * Reports the changes of the caller's tasks. Other ids are left out.
 * @throws McpException (-32602) for too many ids, or for a value that is not an id
 */
export async function listenToTasks(tasks: Tasks, call: McpCall, ids: unknown): Promise<OwnSubscription> {
  const found = await Promise.all(listenedTasks(ids).map(id => tasks.findIfAny(call, id)));
  const taskIds = found.flatMap(task => task?.id ?? []);
  return {
    accepted: { taskIds },
    open: notify => {
      const ends = taskIds.map(id => report(tasks, id, notify));
      return () => {
        for (const end of ends) end();
      };
    },
  };
}

/** Sends the task now, and after each change. @returns a function that ends the reports */
function report({ records }: Tasks, id: string, notify: Notify): () => void {
  let isOver = false;
  let last: StoredTask | undefined;
  let sending = Promise.resolve();
  const read = async () => {
    const task = isOver ? undefined : await records.get(id);
    if (!task || (last && task.revision <= last.revision)) return;
    last = task;
    await notify('notifications/tasks', taskResult(task));
  };
  const send = (revision?: number) => {
    if (revision !== undefined && last && revision <= last.revision) return;
    sending = sending
      .then(read)
      .catch((error: unknown) => records.warn('A task could not be reported', error));
  };
  // Read after the watch has begun, so that no change is missed between them.
  const watching = records.store.watch(id, send);
  watching.then(
    () => send(),
    error => records.warn('A task could not be watched', error),
  );
  return () => {
    isOver = true;
    watching.then(
      unwatch => unwatch(),
      () => undefined,
    );
  };
}
