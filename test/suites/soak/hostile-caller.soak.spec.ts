import { BusyCaller } from '../../fixtures/busy-caller.js';
import { GreedyCaller } from '../../fixtures/greedy-caller.js';
import { callOf, INITIALIZE, modern, type LimitedRequest } from '../../fixtures/limits.js';
import { openSession } from '../../fixtures/raw-session.js';
import { soakSize } from '../../fixtures/soak.js';
import { NodeProcess } from '../../elicitation/node-process.js';

const OTHERS = 50;
const ROUNDS = soakSize(10, 2);
const GREEDY = 'greedy';
/** As many as its questions take: each may have 16. */
const SESSIONS = 10;

interface Kind {
  readonly name: string;
  /** What a caller gets of it by default. */
  readonly cap: number;
  readonly request: (sessions: readonly Record<string, string>[], index: number) => LimitedRequest;
}

const KINDS: readonly Kind[] = [
  { name: 'sessions', cap: 100 - SESSIONS, request: () => INITIALIZE },
  {
    name: 'GET streams of sessions',
    cap: 64,
    request: (sessions, index) => ({ method: 'GET', headers: sessions[index % SESSIONS] }),
  },
  {
    name: 'subscriptions/listen streams',
    cap: 64,
    request: () => modern('subscriptions/listen', { notifications: { toolsListChanged: true } }),
  },
  {
    name: 'calls that run',
    cap: 256,
    request: () => modern('tools/call', { name: 'hold', arguments: {} }),
  },
  {
    name: 'questions that wait',
    cap: 100,
    request: (sessions, index) => ({ headers: sessions[index % SESSIONS], body: callOf('ask', index) }),
  },
];

const quantile = (sorted: readonly number[], part: number) => sorted[Math.floor(sorted.length * part)];
const table: Record<string, object> = {};

describe(`${OTHERS} callers at work, and one that takes all it can get`, () => {
  const server = new NodeProcess({ app: 'limits-app.ts' });
  beforeEach(() => server.start());
  afterEach(() => server.kill());
  afterAll(() => console.table(table));

  const workOfOthers = async (rounds: number) => {
    const others = Array.from(
      { length: OTHERS },
      (_, index) => new BusyCaller(server.url!, `other-${index}`),
    );
    await Promise.all(others.map(other => other.work(rounds)));
    const times = others.flatMap(({ times }) => times).sort((a, b) => a - b);
    const errors = others.flatMap(({ errors }) => errors);
    return { errors, calls: times.length, p50: quantile(times, 0.5), p99: quantile(times, 0.99) };
  };

  it.each(KINDS)(
    'do not notice it at the cap of $name',
    async ({ name, cap, request }) => {
      const capabilities = { elicitation: {} };
      const headers = { 'x-user': GREEDY };
      const sessions: Record<string, string>[] = [];
      for (let index = 0; index < SESSIONS; index++) {
        sessions.push(await openSession(server.url!, { capabilities, headers }));
      }
      let index = 0;
      const greedy = new GreedyCaller(server.url!, GREEDY, () => request(sessions, index++));
      await workOfOthers(Math.ceil(ROUNDS / 4));
      const before = await workOfOthers(ROUNDS);
      await greedy.begin();
      const during = await workOfOthers(ROUNDS);
      const { held, refused, refusals } = greedy;
      await greedy.end();
      const compared = (['p50', 'p99'] as const).map(part => [
        `${part} ms: before, during, ratio`,
        `${before[part].toFixed(1)}, ${during[part].toFixed(1)}, ${(during[part] / before[part]).toFixed(2)}`,
      ]);
      const errors = during.errors.length;
      table[name] = { ...Object.fromEntries(compared), calls: during.calls, errors, held, refused };
      expect([...before.errors, ...during.errors]).toEqual([]);
      expect(held).toBe(cap);
      expect(Object.keys(refusals)).toEqual([expect.stringContaining('the limit of the caller')]);
    },
    600_000,
  );
});
