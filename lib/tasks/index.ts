export { McpTasksModule } from './mcp-tasks.module.js';
export { McpTasks } from './mcp-tasks.js';
export type { McpTasksOptions, QueuedTask, TaskMode, TaskRunner, ToolTaskOptions } from './task-options.js';
export type { CallTask } from './task-context.js';
export {
  TaskStoreFullError,
  type StoredCall,
  type StoredTask,
  type TaskStatus,
  type TaskStore,
} from '../stores/task-store.js';
export { MemoryTaskStore } from '../stores/memory-task-store.js';
