import { EventEmitter } from 'node:events';
import { TaskStoreFullError, type StoredTask, type TaskStore } from './task-store.js';

interface Kept {
  readonly task: StoredTask;
  readonly size: number;
}

/**
 * Keeps tasks in memory, for one node and for tests. A caller that fills its share leaves room for the others.
 * @example
 * ```ts
 * McpTasksModule.forRoot({ store: new MemoryTaskStore(16_777_216) });
 * ```
 */
export class MemoryTaskStore implements TaskStore {
  private readonly kept = new Map<string, Kept>();
  private readonly changes = new EventEmitter().setMaxListeners(0);
  /** The ends of the leases, by server and task. */
  private readonly leases = new Map<string, Map<string, number>>();
  /** The characters of JSON that each principal's tasks take. */
  private readonly sizes = new Map<string, number>();
  private bytes = 0;

  /**
   * @param maxBytes size of all tasks, in characters of JSON. Default: 67,108,864 (64 MiB)
   * @param maxBytesPerCaller size of the tasks of one principal. Default: half of `maxBytes`
   */
  constructor(
    private readonly maxBytes = 67_108_864,
    private readonly maxBytesPerCaller = maxBytes / 2,
  ) {}

  get size(): number {
    return this.kept.size;
  }

  async create(task: StoredTask): Promise<void> {
    this.put(task);
  }

  async get(id: string): Promise<StoredTask | undefined> {
    return this.current(id);
  }

  async replace(task: StoredTask): Promise<boolean> {
    // Synchronous, so that no other change comes between.
    if (this.current(task.id)?.revision !== task.revision - 1) return false;
    this.put(task);
    this.changes.emit(task.id, task.revision);
    return true;
  }

  async delete(id: string): Promise<void> {
    const kept = this.kept.get(id);
    if (!kept) return;
    this.grow(kept.task.owner, -kept.size);
    this.kept.delete(id);
  }

  async watch(id: string, listener: (revision: number | undefined) => void): Promise<() => Promise<void>> {
    // A wrapper, so that the same listener can watch twice.
    const own = (revision: number) => listener(revision);
    this.changes.on(id, own);
    return async () => void this.changes.off(id, own);
  }

  async lease(server: string, ids: readonly string[], leaseMs: number): Promise<void> {
    const leases = this.leases.get(server) ?? new Map<string, number>();
    this.leases.set(server, leases);
    for (const id of ids) leases.set(id, Date.now() + leaseMs);
  }

  async takeLapsed(server: string, leaseMs: number, max: number): Promise<readonly string[]> {
    const now = Date.now();
    const lapsed = [...(this.leases.get(server) ?? [])].filter(([, end]) => end <= now);
    const ids = lapsed.slice(0, max).map(([id]) => id);
    await this.lease(server, ids, leaseMs);
    return ids;
  }

  async release(server: string, ids: readonly string[]): Promise<void> {
    for (const id of ids) this.leases.get(server)?.delete(id);
  }

  private current(id: string): StoredTask | undefined {
    const task = this.kept.get(id)?.task;
    return task && task.expiresAt > Date.now() ? task : undefined;
  }

  private put(task: StoredTask): void {
    const size = JSON.stringify(task).length;
    const growth = size - (this.kept.get(task.id)?.size ?? 0);
    // A failure is short, and a full store must not keep a task from ending.
    const isShort = task.status === 'failed' || task.status === 'cancelled';
    if (!isShort && growth > 0 && !this.hasRoom(task.owner, growth)) {
      throw new TaskStoreFullError('The store is full');
    }
    this.kept.set(task.id, { task, size });
    this.grow(task.owner, growth);
  }

  private hasRoom(owner: string, growth: number): boolean {
    const own = this.sizes.get(owner) ?? 0;
    return this.bytes + growth <= this.maxBytes && own + growth <= this.maxBytesPerCaller;
  }

  private grow(owner: string, growth: number): void {
    this.bytes += growth;
    const own = (this.sizes.get(owner) ?? 0) + growth;
    if (own > 0) this.sizes.set(owner, own);
    else this.sizes.delete(owner);
  }
}
