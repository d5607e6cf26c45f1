import { MemoryTaskStore, type StoredTask } from 'nestjs-mcp/tasks';

const taskOf = (changes: Partial<StoredTask> = {}): StoredTask => ({
  id: 'one',
  owner: 'ada',
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
  it('keeps a task until it is deleted', async () => {
    const store = new MemoryTaskStore();
    await store.create(taskOf());
    expect(await store.get('one')).toMatchObject({ owner: 'ada' });
    await store.delete('one');
    await store.delete('one');
    expect(await store.get('one')).toBeUndefined();
    expect(store.size).toBe(0);
  });

  it('lets exactly one of two changes win', async () => {
    const store = new MemoryTaskStore();
    await store.create(taskOf());
    const changes = [
      taskOf({ revision: 1, status: 'cancelled' }),
      taskOf({ revision: 1, status: 'completed' }),
    ];
    expect(await Promise.all(changes.map(task => store.replace(task)))).toEqual([true, false]);
    expect(await store.get('one')).toMatchObject({ status: 'cancelled' });
  });

  it('does not find or change an expired task', async () => {
    const store = new MemoryTaskStore();
    await store.create(taskOf({ expiresAt: Date.now() }));
    expect(await store.get('one')).toBeUndefined();
    expect(await store.replace(taskOf({ revision: 1 }))).toBe(false);
  });

  it('refuses what does not fit, but lets tasks fail', async () => {
    const { length } = JSON.stringify(taskOf());
    const store = new MemoryTaskStore(length);
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
});
