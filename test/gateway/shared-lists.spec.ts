import { KnownLists } from '../../lib/gateway/caller-lists.js';
import { fakeBackend, type FakeBackend } from './fake-backend.js';
import { connect, startGateway, type Running } from './support.js';

const page = (name: string, cacheScope?: string) => ({
  tools: [{ name, inputSchema: { type: 'object' } }],
  ...(cacheScope !== undefined && { cacheScope }),
});
const CALLERS = Array.from({ length: 110 }, (_, index) => `caller ${index}`);

describe('the lists that are known of a backend', () => {
  /** What callers one after another see, and how often the backend was asked. */
  async function seen(callers: readonly string[], pages: (fetched: number) => object[]) {
    const known = new KnownLists({ timeoutMs: 1000 });
    let fetched = 0;
    const names: unknown[] = [];
    for (const caller of callers) {
      let rest: object[] | undefined;
      const fetch = async () => {
        rest ??= pages((fetched += 1));
        const [next, ...others] = rest;
        rest = others;
        return { ...next, ...(others.length > 0 && { nextCursor: 'next' }) };
      };
      const [first] = await known.pages(caller, 'tools/list', fetch);
      names.push((first['tools'] as { name: string }[])[0].name);
    }
    return { fetched, names };
  }

  it('are shared by all callers if they are public', async () => {
    const { fetched, names } = await seen(CALLERS, count => [page(`t${count}`, 'public')]);
    expect(fetched).toBe(1);
    expect(new Set(names)).toEqual(new Set(['t1']));
  });

  it.each([
    ['private', [page('t', 'private')]],
    ['not said to be public', [page('t')]],
    ['private in part', [page('t', 'public'), page('t', 'private')]],
  ])('are kept for each of many callers if they are %s', async (_, pages) => {
    expect((await seen([...CALLERS, ...CALLERS], () => pages)).fetched).toBe(CALLERS.length);
  });

  it('are forgotten for all callers when one of them is shown a shared list anew, or it has changed', async () => {
    const known = new KnownLists({ timeoutMs: 1000 });
    let fetched = 0;
    const look = (caller: string) =>
      known.pages(caller, 'tools/list', async () => page(`t${(fetched += 1)}`, 'public'));
    await look('a');
    known.forget('a');
    await look('b');
    expect(fetched).toBe(1);
    known.forgetList('a', 'tools/list');
    await look('b');
    expect(fetched).toBe(2);
    known.forget();
    await look('b');
    expect(fetched).toBe(3);
  });
});

describe('a gateway', () => {
  let backend: FakeBackend;
  let gateway: Running;
  let lists: number;

  beforeEach(async () => {
    lists = 0;
    backend = await fakeBackend({
      'tools/list': ({ reply }) => {
        lists += 1;
        reply(page('t', 'private'));
      },
      'tools/call': ({ reply }) => reply({ content: [] }),
    });
    gateway = await startGateway({ backend: { url: backend.url } });
  });
  afterEach(async () => {
    await gateway.app.close();
    backend.close();
  });

  it('lists the tools of a backend once for a caller, whatever the caller says of itself', async () => {
    const client = await connect(gateway.url, 'modern');
    for (const name of CALLERS) {
      const clientInfo = { name, version: '1' };
      await client.callTool({ name: 't', _meta: { 'io.modelcontextprotocol/clientInfo': clientInfo } });
    }
    expect(lists).toBe(1);
    await client.close();
  });
});
