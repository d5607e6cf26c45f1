import { setTimeout as pause } from 'node:timers/promises';
import { send, type Round, type RoundAnswer } from '../fixtures/raw-client.js';
import { soakSize } from '../fixtures/soak.js';
import { NodeProcess } from './node-process.js';

const FLOWS = soakSize(200, 20);
/** The calls that are abandoned before the heap is measured, and between the two measurements. */
const WARM_UP = soakSize(2000, 1000);
const ABANDONED = soakSize(10_000, 2000);
/** Over a short loop, what Node compiles and caches counts as well. */
const MAX_BYTES_PER_CALL = soakSize(200, 1500);
const ROUNDS = 5;
/** What a user takes to answer, in milliseconds, at most. */
const THINKING = 700;

/** Hands each request to the next node, and to another one where that is gone: what a load balancer does. */
class RoundRobin {
  private turn = 0;

  constructor(private readonly nodes: readonly NodeProcess[]) {}

  async send(round: Round): Promise<RoundAnswer> {
    for (let attempt = 0; attempt < 100; attempt++) {
      const { url } = this.nodes[this.turn++ % this.nodes.length];
      if (url === undefined) continue;
      try {
        return await send(url, round);
      } catch {
        // It was killed before it answered.
        await pause(10);
      }
    }
    throw new Error('No node answers');
  }
}

describe('calls with several rounds over three nodes, of which one is killed every second', () => {
  const ran: { flow: string; step: number; round: number }[] = [];
  const nodes = Array.from(
    { length: 3 },
    () => new NodeProcess({ onLine: line => ran.push(JSON.parse(line) as never) }),
  );
  let isOver = false;
  let kills = 0;
  let killing: Promise<void>;

  beforeAll(async () => {
    await Promise.all(nodes.map(node => node.start()));
    killing = (async () => {
      while (!isOver) {
        await pause(1000);
        const node = nodes[Math.floor(Math.random() * nodes.length)];
        await node.kill();
        kills++;
        await node.start();
      }
    })();
  }, 120_000);
  afterAll(async () => {
    isOver = true;
    await killing;
    await Promise.all(nodes.map(node => node.kill()));
  }, 120_000);

  it.each(['awaited', 'thrown'])(
    'all end with the right answer, and no step runs again (%s)',
    async name => {
      const balancer = new RoundRobin(nodes);
      const before = kills;
      const flow = async (id: number): Promise<string | undefined> => {
        const call = { name, args: { flow: `${name}-${id}` } };
        let answer = await balancer.send(call);
        for (let round = 0; round < ROUNDS; round++) {
          expect(answer.result?.inputRequests?.[`value-${round}`].params.message).toBe(
            `Value ${round} of ${name}-${id}?`,
          );
          await pause(Math.random() * THINKING);
          answer = await balancer.send({
            ...call,
            requestState: answer.result!.requestState,
            inputResponses: { [`value-${round}`]: { action: 'accept', content: { value: id + round } } },
          });
        }
        return answer.result?.content?.[0].text;
      };
      const results: (string | undefined)[] = [];
      // More flows, until enough nodes have died under them.
      do {
        results.push(...(await Promise.all(Array.from({ length: FLOWS }, (_, id) => flow(id)))));
      } while (kills < before + 2);
      expect(results).toEqual(results.map((_, index) => String(10_000 + (index % FLOWS) * ROUNDS + 10)));
      // A step that ran in a later round than its own was recorded before.
      expect(ran.filter(({ step, round }) => round !== step)).toEqual([]);
    },
    120_000,
  );
});

describe('calls that are never gone on with', () => {
  let node: NodeProcess;
  afterEach(() => node.kill());

  it.each(['awaited', 'thrown'])(
    'leave nothing behind (%s)',
    async name => {
      node = new NodeProcess();
      await node.start();
      const heap = async () => Number((await send(node.url!, { name: 'heap' })).result!.content![0].text);
      const abandon = async (count: number) => {
        for (let flow = 0; flow < count; flow += 10) {
          const calls = Array.from({ length: 10 }, (_, index) => ({
            name,
            args: { flow: `${flow + index}` },
          }));
          const rounds = await Promise.all(calls.map(call => send(node.url!, call)));
          expect(rounds.every(({ result }) => result?.resultType === 'input_required')).toBe(true);
        }
      };
      await abandon(WARM_UP);
      const before = await heap();
      await abandon(ABANDONED);
      expect(((await heap()) - before) / ABANDONED).toBeLessThan(MAX_BYTES_PER_CALL);
    },
    180_000,
  );
});
