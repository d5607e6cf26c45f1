import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { StoredTask, TaskStore } from '../stores/task-store.js';
import { contractOf, until } from './contract-check.js';

/** A lease in milliseconds, long enough for a check that does not test its end. */
const LONG = 600_000;

const taskOf = (changes: Partial<StoredTask> = {}): StoredTask => ({
  id: randomUUID(),
  server: 'shop',
  tool: 'report',
  owner: 'ada',
  revision: 0,
  status: 'working',
  createdAt: '2026-07-28T00:00:00.000Z',
  lastUpdatedAt: '2026-07-28T00:00:00.000Z',
  ttlMs: 1000,
  pollIntervalMs: 100,
  expiresAt: Date.now() + 60_000,
  run: 1,
  ...changes,
});

export const taskStoreContract = contractOf<TaskStore>({
  'a node finds a task that another node has created': async (one, other) => {
    const task = taskOf({
      statusMessage: 'é€\u{1f642}\n"',
      call: { requestId: 1, params: {}, protocolVersion: 'x' },
    });
    await one.create(task);
    assert.deepEqual(await other.get(task.id), task);
  },
  'an unknown task is not found, changed or deleted': async one => {
    const task = taskOf({ revision: 1 });
    assert.equal(await one.get(task.id), undefined);
    assert.equal(await one.replace(task), false);
    await one.delete(task.id);
  },
  'a deleted task is gone on all nodes': async (one, other) => {
    const task = taskOf();
    await one.create(task);
    await other.delete(task.id);
    assert.equal(await one.get(task.id), undefined);
  },
  'only one of many changes at the same time, on several nodes, wins': async (one, other) => {
    const task = taskOf();
    await one.create(task);
    const changes = Array.from({ length: 20 }, (_, index) =>
      (index % 2 ? one : other).replace({ ...task, revision: 1, statusMessage: String(index) }),
    );
    const won = (await Promise.all(changes)).flatMap((isFirst, index) => (isFirst ? [String(index)] : []));
    assert.equal(won.length, 1);
    assert.equal((await one.get(task.id))?.statusMessage, won[0]);
  },
  'a task is gone when its time is over': async one => {
    const task = taskOf({ expiresAt: Date.now() + 200 });
    await one.create(task);
    await until(async () => (await one.get(task.id)) === undefined);
    assert.equal(await one.replace({ ...task, revision: 1 }), false);
  },
  'a node that watches a task notices the changes of all nodes': async (one, other) => {
    const task = taskOf();
    const seen: (number | undefined)[] = [];
    await one.create(task);
    const unwatch = await one.watch(task.id, revision => seen.push(revision));
    await other.replace({ ...task, revision: 1 });
    await one.replace({ ...task, revision: 2 });
    await until(async () => seen.length === 2);
    assert.deepEqual([...seen], [1, 2]);
    await unwatch();
    const later = await one.watch(task.id, revision => seen.push(revision));
    await other.replace({ ...task, revision: 3 });
    await until(async () => seen.length === 3);
    assert.deepEqual(seen, [1, 2, 3]);
    await later();
  },
  'a leased task is taken over when its lease is over, by one node': async (one, other) => {
    const server = randomUUID();
    const ids = [randomUUID(), randomUUID()];
    await one.lease(server, ids, 100);
    const taken: string[] = [];
    await until(async () => {
      const found = await Promise.all([one.takeLapsed(server, LONG, 1), other.takeLapsed(server, LONG, 1)]);
      assert.ok(found.every(({ length }) => length <= 1));
      return taken.push(...found.flat()) === 2;
    });
    assert.deepEqual(new Set(taken), new Set(ids));
    assert.deepEqual(await one.takeLapsed(server, LONG, 100), []);
  },
  'a renewed or released lease is not taken over': async (one, other) => {
    const server = randomUUID();
    const [renewed, released, lapsed] = [randomUUID(), randomUUID(), randomUUID()];
    await one.lease(server, [renewed, released], 100);
    await one.lease(server, [renewed], LONG);
    await one.release(server, [released]);
    await one.lease(server, [lapsed], 200);
    const taken: string[] = [];
    await until(async () => taken.push(...(await other.takeLapsed(server, LONG, 100))) > 0);
    assert.deepEqual(taken, [lapsed]);
    assert.deepEqual(await other.takeLapsed(randomUUID(), LONG, 100), []);
  },
});
