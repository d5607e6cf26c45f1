import { McpErrorCode, McpException } from '../exceptions/mcp.exception.js';

/** The identifier of the tasks extension (SEP-2663). */
export const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks';

/** Maximum tasks in one `subscriptions/listen` request. */
const MAX_TASKS = 100;

/** The error for a task that does not exist any more, and for a task of another caller. */
export const unknownTask = (): McpException =>
  new McpException(McpErrorCode.InvalidParams, 'Unknown or expired task');

/**
 * The `taskIds` of a `subscriptions/listen`, each once.
 * @throws McpException (-32602) for too many ids, or for a value that is not an id
 */
export function listenedTasks(ids: unknown): string[] {
  if (!Array.isArray(ids) || !ids.every(id => typeof id === 'string')) {
    throw new McpException(McpErrorCode.InvalidParams, '"taskIds" must be a list of strings');
  }
  const wanted = [...new Set(ids)];
  if (wanted.length <= MAX_TASKS) return wanted;
  throw new McpException(McpErrorCode.InvalidParams, `At most ${MAX_TASKS} tasks can be listened to`);
}
