import { UnavailableException } from '../../exceptions/unavailable.exception.js';
import type { TaskList } from '../../protocol/server-extension.js';
import type { McpServerInstance } from '../../server/mcp-server-instance.js';
import { withoutSecrets } from '../../telemetry/recording.js';
import { clipped } from '../../util/clipped.js';
import { ApiFailure } from '../api-failure.js';
import type { Tasks } from '../api.js';
import { principalIn } from './principal.js';

const MAX_TASKS = 100;

/** Most characters of a status message, which the handler or an error has written. */
const MAX_MESSAGE = 500;

const listOf = ({ extensions }: McpServerInstance): TaskList | undefined =>
  extensions.all.find(({ taskList }) => taskList)?.taskList;

/** The latest tasks of all callers, without what is for their callers only. @throws ApiFailure without the store */
export async function tasksOf(server: McpServerInstance): Promise<Tasks> {
  const list = listOf(server);
  if (!list) return { more: 0 };
  const tasks = await reached(list.latest(MAX_TASKS));
  return {
    more: Math.max(0, list.size() - MAX_TASKS),
    tasks: tasks.map(({ statusMessage, owner, ...task }) => ({
      ...task,
      caller: principalIn(owner),
      ...(statusMessage !== undefined && {
        statusMessage: withoutSecrets(clipped(statusMessage, MAX_MESSAGE)),
      }),
    })),
  };
}

/** @throws ApiFailure for what is not an id, and without the store */
export async function cancelTask(server: McpServerInstance, id: unknown): Promise<object> {
  const list = listOf(server);
  if (!list || typeof id !== 'string')
    throw new ApiFailure(400, 'A task has an "id", on a server with tasks');
  await reached(list.cancel(id));
  return {};
}

async function reached<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof UnavailableException)) throw error;
    throw new ApiFailure(503, 'The store of the tasks cannot be reached');
  }
}
