import type { StoredTask, TaskStore } from './task-store.js';

interface Kept {
  readonly task: StoredTask;
  readonly size: number;
}

/**
 * Keeps tasks in memory, for one node and for tests.
 * @example
 * ```ts
 * McpTasksModule.forRoot({ store: new MemoryTaskStore(16_777_216) });
 * ```
 */
export class MemoryTaskStore implements TaskStore {
  private readonly kept = new Map<string, Kept>();
  private bytes = 0;

  /** @param maxBytes size of all tasks, in characters of JSON. Default: 67,108,864 (64 MiB) */
  constructor(private readonly maxBytes = 67_108_864) {}

  /** The number of tasks. */
  get size(): number {
    return this.kept.size;
  }

  /** @throws Error if the store is full */
  async create(task: StoredTask): Promise<void> {
    this.put(task);
  }

  async get(id: string): Promise<StoredTask | undefined> {
    return this.current(id);
  }

  /** @throws Error if the store is full */
  async replace(task: StoredTask): Promise<boolean> {
    // Synchronous, so that no other change comes between.
    if (this.current(task.id)?.revision !== task.revision - 1) return false;
    this.put(task);
    return true;
  }

  async delete(id: string): Promise<void> {
    this.bytes -= this.kept.get(id)?.size ?? 0;
    this.kept.delete(id);
  }

  private current(id: string): StoredTask | undefined {
    const task = this.kept.get(id)?.task;
    return task && task.expiresAt > Date.now() ? task : undefined;
  }

  private put(task: StoredTask): void {
    const size = JSON.stringify(task).length;
    const before = this.kept.get(task.id)?.size ?? 0;
    // A failure is short, and a full store must not keep a task from ending.
    const isShort = task.status === 'failed' || task.status === 'cancelled';
    if (!isShort && size > before && this.bytes - before + size > this.maxBytes) {
      throw new Error('The store is full');
    }
    this.kept.set(task.id, { task, size });
    this.bytes += size - before;
  }
}
