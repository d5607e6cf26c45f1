import { CallerLists, KnownLists } from '../../lib/gateway/caller-lists.js';
import { BackendLimit, ListDeadlines } from '../../lib/gateway/caller-waits.js';
import type { McpCall } from '../../lib/protocol/mcp-call.js';
import { deferred } from '../fixtures/deferred.js';
import { fakeBackend } from './fake-backend.js';
import { connect, outcomeOf, startGateway } from './support.js';

const tool = (name: string, description = '') => ({ name, description, inputSchema: { type: 'object' } });
const pageOf = (length: number) => ({ tools: [tool('t', 'x'.repeat(length))] });

describe('the lists that are known of a backend', () => {
  const lists = (bounds = {}) =>
    new KnownLists({ timeoutMs: 1000, maxLength: 1000, maxTotalLength: 2500, ...bounds });

  it('are not read past their bound', async () => {
    let pages = 0;
    const endless = async () => ({ ...pageOf(300), nextCursor: String(pages++) });
    await expect(lists().pages('a', 'tools/list', endless)).rejects.toThrow('larger than 1000 characters');
    expect(pages).toBe(3);
  });

  it('are not read on when their time is up', async () => {
    let pages = 0;
    const endless = async () => ({ tools: [], nextCursor: String(pages++) });
    await expect(lists({ timeoutMs: -1 }).pages('a', 'tools/list', endless)).rejects.toThrow('took too long');
    expect(pages).toBe(1);
  });

  it('are not asked for again at once where they could not be fetched', async () => {
    const now = jest.spyOn(Date, 'now').mockReturnValue(1_000_000);
    const known = lists();
    let fetched = 0;
    const fail = async () => {
      fetched += 1;
      throw new Error('down');
    };
    for (const at of [0, 999, 1000, 1001]) {
      now.mockReturnValue(1_000_000 + at);
      await expect(known.pages('a', 'tools/list', fail, at === 999)).rejects.toThrow('down');
    }
    expect(fetched).toBe(2);
    known.forget();
    expect(await known.pages('a', 'tools/list', async () => pageOf(1))).toHaveLength(1);
    now.mockRestore();
  });

  it('make room for each other, the longest unused first', async () => {
    const known = lists();
    const fetched: string[] = [];
    const look = (view: string) =>
      known.pages(view, 'tools/list', async () => {
        fetched.push(view);
        return pageOf(800);
      });
    for (const view of ['a', 'b', 'a', 'c', 'a', 'b']) await look(view);
    expect(fetched).toEqual(['a', 'b', 'c', 'b']);
    // What was forgotten is given back, even where it failed or was forgotten twice.
    known.forget();
    known.forget('a');
    for (let round = 0; round < 5; round++) {
      const tooLong = known.pages('z', 'tools/list', async () => pageOf(2000));
      await expect(tooLong).rejects.toThrow('larger than 1000');
      await look(`${round}`);
    }
    expect(fetched.slice(4)).toEqual(['0', '1', '2', '3', '4']);
  });
});

describe('a call that waits for lists', () => {
  const call = () => ({ reply: { signal: new AbortController().signal, notify: async () => {} } });

  it('has one time for all of them, which counts only while it waits', async () => {
    jest.useFakeTimers();
    const deadlines = new ListDeadlines(1000);
    const [one, other] = [call(), call()];
    const first = deferred<string>();
    const waiting = [deadlines.within(one, first.promise), deadlines.within(one, first.promise)];
    jest.advanceTimersByTime(600);
    first.resolve('listed');
    expect(await Promise.all(waiting)).toEqual(['listed', 'listed']);
    jest.advanceTimersByTime(60_000);
    const never = deferred().promise;
    const late = expect(deadlines.within(one, never)).rejects.toThrow('took too long');
    jest.advanceTimersByTime(399);
    expect(deadlines.isOver(one)).toBe(false);
    jest.advanceTimersByTime(1);
    await late;
    const later = expect(deadlines.within(one, never)).rejects.toThrow('took too long');
    jest.advanceTimersByTime(0);
    await later;
    expect(await deadlines.within(one, Promise.resolve('known'))).toBe('known');
    const since = deadlines.within(other, first.promise);
    expect([deadlines.isOver(one), deadlines.isOver(other), await since]).toEqual([true, false, 'listed']);
    expect(jest.getTimerCount()).toBe(0);
    jest.useRealTimers();
  });

  it('gets its answer in this time, however many lists and pages it needs', async () => {
    jest.useFakeTimers();
    const caps = { maxPerCaller: 1 };
    const page = async ({ cursor = 0 }: { cursor?: number }) => {
      await new Promise(resolve => setTimeout(resolve, 300));
      return { resources: [], ...(cursor < 1 && { nextCursor: '1' }) };
    };
    const lists = new CallerLists(
      1000,
      new ListDeadlines(1000),
      new BackendLimit('calls', caps),
      () => 'all',
      (_method, params) => page(params),
      () => undefined,
    );
    const exchange = { ...call(), era: 'modern' } as unknown as McpCall;
    const first = lists.pages('resources/list', exchange);
    await jest.advanceTimersByTimeAsync(600);
    expect(await first).toHaveLength(2);
    const second = outcomeOf(lists.pages('resources/templates/list', exchange));
    await jest.advanceTimersByTimeAsync(400);
    expect(await second).toMatchObject({ message: 'The server behind this gateway did not answer in time' });
    // The list itself goes on, for others.
    await jest.advanceTimersByTimeAsync(200);
    const other = { ...call(), era: 'modern' } as unknown as McpCall;
    expect(await lists.pages('resources/templates/list', other)).toHaveLength(2);
    jest.useRealTimers();
  });
});

describe('a gateway', () => {
  it('does not wait long for the list of a backend', async () => {
    const backend = await fakeBackend({ 'tools/list': () => {} });
    const gateway = await startGateway({ backend: { url: backend.url }, limits: { listTimeoutMs: 20 } });
    const client = await connect(gateway.url, 'modern');
    expect(await outcomeOf(client.listTools())).toMatchObject({
      code: -32603,
      message: 'The server behind this gateway did not answer in time',
    });
    await client.close();
    await gateway.app.close();
    backend.close();
  });

  it('asks for a list once, whatever else callers say that they can', async () => {
    let lists = 0;
    const backend = await fakeBackend({
      'tools/list': ({ reply }) => {
        lists += 1;
        reply({ tools: [tool('t')] });
      },
      'tools/call': ({ params, reply }) => reply({ content: [], structuredContent: params }),
    });
    const gateway = await startGateway({ backend: { url: backend.url } });
    for (const n of [1, 2, 3]) {
      const client = await connect(gateway.url, 'modern', {
        capabilities: { elicitation: { form: { n } }, sampling: { n }, roots: { n } } as never,
      });
      const { structuredContent } = await client.callTool({ name: 't' });
      expect(structuredContent).toHaveProperty(['_meta', 'io.modelcontextprotocol/clientCapabilities'], {
        elicitation: { form: {} },
        sampling: {},
        roots: {},
      });
      await client.close();
    }
    expect(lists).toBe(1);
    await gateway.app.close();
    backend.close();
  });
});
