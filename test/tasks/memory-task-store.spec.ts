import { contracts } from 'nestjs-mcp/testing';
import { MemoryTaskStore, type StoredTask } from 'nestjs-mcp/tasks';

const taskOf = (changes: Partial<StoredTask> = {}): StoredTask => ({
  id: 'one',
  server: 'shop',
  tool: 'report',
  owner: 'ada',
  run: 1,
  revision: 0,
  status: 'working',
  createdAt: '2026-07-28T00:00:00.000Z',
  lastUpdatedAt: '2026-07-28T00:00:00.000Z',
  ttlMs: 1000,
  pollIntervalMs: 100,
  expiresAt: Date.now() + 60_000,
  ...changes,
});

describe('MemoryTaskStore', () => {
  let store: MemoryTaskStore;
  beforeEach(() => (store = new MemoryTaskStore()));
  for (const { name, run } of contracts.taskStore(() => store)) it(name, run);

  it('refuses what does not fit, but lets tasks fail', async () => {
    const { length } = JSON.stringify(taskOf());
    const store = new MemoryTaskStore(length, length);
    await store.create(taskOf());
    await expect(store.create(taskOf({ id: 'two' }))).rejects.toThrow('The store is full');
    const result = { content: [{ type: 'text', text: 'long' }] };
    const completed = taskOf({ revision: 1, status: 'completed', result });
    await expect(store.replace(completed)).rejects.toThrow('The store is full');
    const failed = taskOf({
      revision: 1,
      status: 'failed',
      error: { code: -32000, message: 'The store is full' },
    });
    expect(await store.replace(failed)).toBe(true);
    await store.delete('one');
    await store.create(taskOf({ id: 'two' }));
  });

  it('keeps the tasks of one caller within its share', async () => {
    const { length } = JSON.stringify(taskOf());
    const store = new MemoryTaskStore(3 * length, length);
    await store.create(taskOf());
    await expect(store.create(taskOf({ id: 'two' }))).rejects.toThrow('The store is full');
    await store.create(taskOf({ id: 'two', owner: 'bob' }));
    await store.delete('one');
    await store.create(taskOf({ id: 'new' }));
  });
});
