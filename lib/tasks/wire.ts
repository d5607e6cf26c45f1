import type { Result } from '@modelcontextprotocol/server';
import type { TaskOverview } from '../protocol/server-extension.js';
import type { StoredTask } from '../stores/task-store.js';
import { defined } from '../util/defined.js';
import { openIn } from './task-records.js';

/** The fields that a client reads of every task. */
function fieldsOf(task: StoredTask) {
  const { id: taskId, status, statusMessage, createdAt, lastUpdatedAt, ttlMs, pollIntervalMs } = task;
  return defined({ taskId, status, statusMessage, createdAt, lastUpdatedAt, ttlMs, pollIntervalMs });
}

/** The answer to a call that has become a task: a `CreateTaskResult`. */
export const createdResult = (task: StoredTask): Result => ({ resultType: 'task', ...fieldsOf(task) });

/** The answer to `tasks/get`, and the params of `notifications/tasks`. */
export function taskResult(task: StoredTask): Result {
  const { status, result, error } = task;
  return {
    ...fieldsOf(task),
    ...(status === 'input_required' && { inputRequests: Object.fromEntries(openIn(task)) }),
    // The result is whole, as an ordinary call would have returned it.
    ...(status === 'completed' && { result: { ...result, resultType: 'complete' } }),
    ...(status === 'failed' && { error }),
  };
}

/** What operators see of a task. */
export const overviewOf = (task: StoredTask): TaskOverview => {
  const { id, tool, owner, status, statusMessage, createdAt, lastUpdatedAt, ttlMs } = task;
  const inputRequests = openIn(task).length;
  return { id, tool, owner, status, statusMessage, createdAt, lastUpdatedAt, ttlMs, inputRequests };
};
