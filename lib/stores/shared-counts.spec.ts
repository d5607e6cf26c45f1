import { CallerLimit } from '../protocol/caller-limit.js';
import { SharedCounts, type CountStore } from './shared-counts.js';

const CALLER = '192.0.2.1';

class MemoryCountStore implements CountStore {
  readonly held = new Map<string, Map<string, number>>();
  exchanges = 0;
  isDown = false;

  async exchange(key: string, node: string, count: number): Promise<number> {
    this.exchanges += 1;
    if (this.isDown) throw new Error('down');
    const nodes = this.held.get(key) ?? new Map<string, number>();
    this.held.set(key, nodes.set(node, count));
    return [...nodes].reduce((sum, [one, held]) => (one === node ? sum : sum + held), 0);
  }
}

describe('the counts of callers on several nodes', () => {
  let store: MemoryCountStore;
  const newNode = (maxPerCaller: number) =>
    new CallerLimit(
      'calls',
      { max: 1000, maxPerCaller },
      { counting: { server: 'test', counts: limit => new SharedCounts(store, limit) } },
    );
  const nodesWith = (count: number, maxPerCaller: number) =>
    Array.from({ length: count }, () => newNode(maxPerCaller));
  const beat = (times = 1) => jest.advanceTimersByTimeAsync(1000 * times);

  beforeEach(() => {
    jest.useFakeTimers();
    store = new MemoryCountStore();
  });
  afterEach(() => jest.useRealTimers());

  it('give a caller its places once, whichever nodes it asks', async () => {
    const nodes = nodesWith(3, 10);
    let given = 0;
    for (let index = 0; index < 30; index++) {
      if (!(await nodes[index % 3].claim(CALLER))) given += 1;
    }
    expect(given).toBe(10);
    expect(await nodes[0].claim('192.0.2.2')).toBeUndefined();
  });

  it('give no place twice when all nodes are asked at once', async () => {
    const nodes = nodesWith(3, 10);
    const claims = nodes.flatMap(node => Array.from({ length: 10 }, () => node.claim(CALLER)));
    const given = (await Promise.all(claims)).filter(refusal => !refusal).length;
    expect(given).toBeLessThanOrEqual(10);
  });

  it('cost nothing for callers with few items', async () => {
    const [one] = nodesWith(1, 160);
    for (let index = 0; index < 9; index++) await one.claim(CALLER);
    await beat(100);
    expect(store.exchanges).toBe(0);
  });

  it('do not wait for the other nodes where an item is taken at once', async () => {
    const [one, other] = nodesWith(2, 32);
    expect(one.take(CALLER, 20)).toBeUndefined();
    await beat();
    // Its first counted items fetch the count of the other node.
    expect(other.take(CALLER, 2)).toBeUndefined();
    await beat();
    expect(other.take(CALLER, 11)).toMatchObject({ status: 429 });
    expect(other.take(CALLER, 10)).toBeUndefined();
  });

  it('give places again that another node has released, soon after a refusal', async () => {
    const [one, other] = nodesWith(2, 32);
    one.take(CALLER, 30);
    other.take(CALLER, 2);
    await beat();
    expect(other.take(CALLER)).toMatchObject({ status: 429 });
    one.release(CALLER, 30);
    await beat(2);
    expect(other.take(CALLER)).toBeUndefined();
  });

  it('are repeated while they stay the same, and forgotten when the node closes', async () => {
    const [one, other] = nodesWith(2, 10);
    one.take(CALLER, 5);
    await beat(59);
    expect(store.exchanges).toBe(3);
    await one.close();
    for (let index = 0; index < 10; index++) expect(await other.claim(CALLER)).toBeUndefined();
    await beat(59);
    const [nodes] = store.held.values();
    expect([...nodes.values()].sort()).toEqual([0, 10]);
  });

  it('leave the limit of each node while the store is down', async () => {
    const nodes = nodesWith(2, 10);
    store.isDown = true;
    let given = 0;
    for (let index = 0; index < 30; index++) {
      if (!(await nodes[index % 2].claim(CALLER))) given += 1;
    }
    expect(given).toBe(20);
  });
});
