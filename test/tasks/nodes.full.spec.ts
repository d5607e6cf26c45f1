import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { NodeProcess } from '../elicitation/node-process.js';
import { Inbox } from '../fixtures/inbox.js';
import { describeWithRedis, RedisServer } from '../redis/redis-server.js';
import { send, type TaskAnswer } from './task-client.js';

const YES = { name: { action: 'accept', content: { name: 'Ada' } } };

describeWithRedis('nodes that share their tasks', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tasks-'));
  const redis = new RedisServer(folder);
  const lines = new Inbox<string>();
  let nodes: NodeProcess[] = [];

  beforeAll(() => redis.start());
  beforeEach(async () => {
    nodes = [await startNode(), await startNode()];
  });
  afterEach(() => Promise.all(nodes.map(node => node.kill())));
  afterAll(async () => {
    await redis.kill();
    rmSync(folder, { recursive: true });
  });

  async function startNode(leaseMs = 1000): Promise<NodeProcess> {
    const node = new NodeProcess({
      app: 'tasks-app.ts',
      env: { REDIS_URL: redis.url, LEASE_MS: `${leaseMs}` },
      onLine: line => lines.put(line),
    });
    await node.start();
    return node;
  }

  const start = async (node: NodeProcess, name: string, args = {}): Promise<string> =>
    idOf(await send(node.url!, 'tools/call', { name, arguments: args }));

  const idOf = ({ result, error }: TaskAnswer): string => {
    expect(error).toBeUndefined();
    return result!.taskId!;
  };

  const get = (node: NodeProcess, taskId: string): Promise<TaskAnswer> =>
    send(node.url!, 'tasks/get', { taskId });

  /** Polls until the task has one of these states. */
  async function until(node: NodeProcess, taskId: string, ...states: string[]) {
    for (;;) {
      const { result } = await get(node, taskId);
      if (result && states.includes(String(result['status']))) return result;
      await pause(60);
    }
  }

  it('answers, updates and cancels a task of another node', async () => {
    const [one, other] = nodes;
    const asking = await start(one, 'again');
    const { inputRequests } = await until(other, asking, 'input_required');
    expect(Object.keys(inputRequests as object)).toEqual(['name']);
    await send(other.url!, 'tasks/update', { taskId: asking, inputResponses: YES });
    const { result } = await until(other, asking, 'completed', 'failed');
    expect(result).toMatchObject({ content: [{ text: expect.stringMatching(/^(\d+) \1 .* Ada$/) }] });

    const endless = await start(one, 'once');
    expect((await get(other, endless)).result).toMatchObject({ status: 'working' });
    await send(other.url!, 'tasks/cancel', { taskId: endless });
    expect((await get(one, endless)).result).toMatchObject({ status: 'cancelled' });
  });

  it('fails a task whose process is killed', async () => {
    const [one, other] = nodes;
    const id = await start(one, 'once');
    await one.kill();
    const failed = await until(other, id, 'failed');
    expect(failed).toMatchObject({
      statusMessage: 'The process that ran the task has ended',
      error: { code: -32000 },
    });
  });

  it.each(['kill', 'stop'] as const)('runs a task with "retry" again (%s)', async end => {
    const [one, other] = nodes;
    const id = await start(one, 'again');
    const before = await until(one, id, 'input_required');
    await one[end]();
    // The answer arrives while no process runs the task.
    await send(other.url!, 'tasks/update', { taskId: id, inputResponses: YES });
    const { result, ...rest } = await until(other, id, 'completed', 'failed');
    expect(rest).toMatchObject({ status: 'completed', createdAt: before['createdAt'] });
    const [{ text }] = (result as { content: [{ text: string }] }).content;
    // The step has kept the result of the first process.
    const [first, second, key, name] = text.split(' ');
    expect(first).not.toBe(second);
    expect(key).toMatch(/^[\w-]{36}$/);
    expect(name).toBe('Ada');
  });

  it('asks again under the same key if the process dies before the answer', async () => {
    const [one, other] = nodes;
    const id = await start(one, 'again');
    await until(one, id, 'input_required');
    await lines.take(); // it has begun
    await one.kill();
    while ((await lines.take()) !== 'again runs');
    const { inputRequests } = await until(other, id, 'input_required');
    expect(Object.keys(inputRequests as object)).toEqual(['name']);
    await send(other.url!, 'tasks/update', { taskId: id, inputResponses: YES });
    expect(await until(other, id, 'completed', 'failed')).toMatchObject({ status: 'completed' });
  });

  it('keeps running while Redis restarts, and keeps the result', async () => {
    const [one, other] = nodes;
    const id = await start(one, 'quick', { ms: 1500 });
    const endless = await start(one, 'once');
    await redis.stop();
    // The handler ends meanwhile.
    await pause(1600);
    expect((await get(other, id)).status).toBe(503);
    await redis.start();
    expect(await until(other, id, 'completed', 'failed')).toMatchObject({ status: 'completed' });
    // Its node has renewed the lease before others looked for it.
    await pause(2500);
    expect((await get(other, endless)).result).toMatchObject({ status: 'working' });
  });

  it('runs 1,000 tasks at once', async () => {
    // As by default: a busy node must have the time to renew its leases.
    nodes.push(await startNode(10_000), await startNode(10_000));
    await Promise.all(nodes.splice(0, 2).map(node => node.kill()));
    const ids = await Promise.all(
      Array.from({ length: 1000 }, (_, index) => start(nodes[index % 2], 'quick', { ms: 200 })),
    );
    const ended = await Promise.all(
      ids.map((id, index) => until(nodes[index % 2], id, 'completed', 'failed')),
    );
    expect(new Set(ended.map(({ status }) => status))).toEqual(new Set(['completed']));
  });
});
