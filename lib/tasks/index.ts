export { McpTasksModule } from './mcp-tasks.module.js';
export type { McpTasksOptions, TaskMode, ToolTaskOptions } from './task-options.js';
export type { CallTask } from './task-context.js';
export type { StoredTask, TaskStatus, TaskStore } from './task-store.js';
export { MemoryTaskStore } from './memory-task-store.js';
