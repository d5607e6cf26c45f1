import type { Result } from '@modelcontextprotocol/server';
import type { Params } from '../protocol/mcp-call.js';
import { isRecord } from '../util/is-record.js';

const isText = (value: unknown): boolean => typeof value === 'string';

/** The fields of a task that the gateway passes on, and the values that they may have. */
const FIELDS = Object.entries<(value: unknown) => boolean>({
  status: isText,
  statusMessage: isText,
  createdAt: isText,
  lastUpdatedAt: isText,
  ttlMs: value => value === null || Number.isFinite(value),
  pollIntervalMs: Number.isFinite,
});

/**
 * The fields that every task has, and `_meta`. Others, and values of a wrong type, could carry a result past the
 * interceptors.
 * @param taskId replaces the id
 */
export const fieldsOf = (task: Params, taskId: string): Params => ({
  taskId,
  ...Object.fromEntries(
    FIELDS.flatMap(([name, isValid]) => (isValid(task[name]) ? [[name, task[name]]] : [])),
  ),
  ...metaOf(task),
});

export const metaOf = ({ _meta }: Params): Result => (isRecord(_meta) ? { _meta } : {});

/** The answer to a call that a backend has made a task. The client reads the status message later, by `tasks/get`. */
export function createdTask(task: Params, taskId: string): Result {
  const { statusMessage: _unchecked, ...fields } = fieldsOf(task, taskId);
  return { resultType: 'task', ...fields };
}
