import type { Result } from '@modelcontextprotocol/server';
import type { Params } from '../protocol/mcp-call.js';
import { isRecord } from '../util/is-record.js';

const FIELDS = ['status', 'statusMessage', 'createdAt', 'lastUpdatedAt', 'ttlMs', 'pollIntervalMs'] as const;

/**
 * The fields that every task has, and `_meta`. Others could carry a result past the interceptors.
 * @param taskId replaces the id
 */
export const fieldsOf = (task: Params, taskId: string): Params => ({
  taskId,
  ...Object.fromEntries(FIELDS.flatMap(name => (task[name] === undefined ? [] : [[name, task[name]]]))),
  ...metaOf(task),
});

export const metaOf = ({ _meta }: Params): Result => (isRecord(_meta) ? { _meta } : {});

/** The answer to a call that a backend has made a task. */
export const createdTask = (task: Params, taskId: string): Result => ({
  resultType: 'task',
  ...fieldsOf(task, taskId),
});
