import type { Client } from '@modelcontextprotocol/client';
import type { GatewayBackend } from 'nestjs-mcp/gateway';
import { fakeBackend, type FakeBackend, type FakeCall } from './fake-backend.js';
import { connect, outcomeOf, startGateway, type Running } from './support.js';

type Row = Record<string, unknown>;
type Page = { tools: Row[]; nextCursor?: string; ttlMs?: number; cacheScope?: string };

const toolsOf = (count: number, name = 't') =>
  Array.from({ length: count }, (_, index) => ({
    name: `${name}${index}`,
    inputSchema: { type: 'object' },
  }));

/** Answers with pages; a page's cursor is its place among them. */
const pagesOf =
  (...pages: readonly Row[]) =>
  ({ params, reply }: FakeCall) => {
    const index = Number(params['cursor'] ?? 0);
    const isLast = index === pages.length - 1;
    reply({ ...pages[index], ...(!isLast && { nextCursor: String(index + 1) }) });
  };

describe('a page of a list of several backends', () => {
  const backends: FakeBackend[] = [];
  let gateway: Running | undefined;
  let client: Client | undefined;
  afterEach(async () => {
    await client?.close();
    await gateway?.app.close();
    for (const backend of backends.splice(0)) backend.close();
  });

  async function start(
    methods: Readonly<Record<string, (call: FakeCall) => void>>[],
    others: Record<string, GatewayBackend> = {},
  ): Promise<Client> {
    const all = await Promise.all(
      methods.map(one => fakeBackend(one, 'modern', { tools: {}, prompts: {}, resources: {} })),
    );
    backends.push(...all);
    const named = Object.fromEntries(all.map(({ url }, index) => ['abcdefgh'[index], { url }]));
    gateway = await startGateway({ backends: { ...named, ...others } });
    return (client = await connect(gateway.url, 'modern'));
  }
  const page = async (method: 'tools/list', cursor?: string) =>
    (await client!.request({ method, params: cursor === undefined ? {} : { cursor } })) as unknown as Page;
  const names = ({ tools }: Page) => tools.map(({ name }) => name);

  it('has the rows of all, and all pages of each', async () => {
    const named = (name: string) => ({ name, uri: `x://${name}`, uriTemplate: `x://{${name}}` });
    const methodsOf = (one: string, two: string) => ({
      'tools/list': pagesOf({ tools: toolsOf(2, one) }, { tools: toolsOf(1, two) }),
      'prompts/list': pagesOf({ prompts: [named(one)] }, { prompts: [named(two)] }),
      'resources/list': pagesOf({ resources: [named(one)] }, { resources: [named(two)] }),
      'resources/templates/list': pagesOf(
        { resourceTemplates: [named(one)] },
        { resourceTemplates: [named(two)] },
      ),
    });
    await start([methodsOf('k', 'l'), methodsOf('m', 'n')]);
    const first = await page('tools/list');
    expect(names(first)).toEqual(['a_k0', 'a_k1', 'a_l0', 'b_m0', 'b_m1', 'b_n0']);
    expect(first).not.toHaveProperty('nextCursor');
    const list = async (method: 'prompts/list' | 'resources/list' | 'resources/templates/list') => {
      const result = (await client!.request({ method })) as Record<string, unknown>;
      expect(result).not.toHaveProperty('nextCursor');
      const rows = Object.values(result).find(Array.isArray) as Row[];
      return rows.map(({ name }) => name);
    };
    expect(await list('prompts/list')).toEqual(['a_k', 'a_l', 'b_m', 'b_n']);
    expect(await list('resources/list')).toEqual(['k', 'l', 'm', 'n']);
    expect(await list('resources/templates/list')).toEqual(['k', 'l', 'm', 'n']);
  });

  it('ends before it has more than 1,000 rows, and the next one goes on there', async () => {
    await start([
      { 'tools/list': pagesOf({ tools: toolsOf(700) }, { tools: toolsOf(400, 'u') }) },
      { 'tools/list': pagesOf({ tools: toolsOf(1200) }) },
      { 'tools/list': pagesOf({ tools: toolsOf(1) }) },
    ]);
    const first = await page('tools/list');
    expect(first.tools).toHaveLength(700);
    const second = await page('tools/list', first.nextCursor);
    expect(names(second).slice(0, 1)).toEqual(['a_u0']);
    expect(second.tools).toHaveLength(400);
    const third = await page('tools/list', second.nextCursor);
    expect(third.tools).toHaveLength(1200);
    const last = await page('tools/list', third.nextCursor);
    expect(names(last)).toEqual(['c_t0']);
    expect(last.nextCursor).toBeUndefined();
  });

  it('ends before it has more than 1 MiB of JSON', async () => {
    const large = { tools: [{ ...toolsOf(1)[0], description: 'x'.repeat(600_000) }] };
    await start([{ 'tools/list': pagesOf(large) }, { 'tools/list': pagesOf(large) }]);
    const first = await page('tools/list');
    expect(names(first)).toEqual(['a_t0']);
    const second = await page('tools/list', first.nextCursor);
    expect(names(second)).toEqual(['b_t0']);
    expect(second.nextCursor).toBeUndefined();
  });

  it('is made of at most 100 pages of the backends', async () => {
    let pages = 0;
    const endless = ({ reply }: FakeCall) => reply({ tools: [], nextCursor: String(++pages) });
    await start([{ 'tools/list': endless }, { 'tools/list': pagesOf({ tools: toolsOf(1) }) }]);
    const first = await page('tools/list');
    expect(first.tools).toEqual([]);
    expect(first.nextCursor).toBeDefined();
    expect(pages).toBe(100);
  });

  it('leaves out the backends that are down', async () => {
    const down = { url: 'http://127.0.0.1:1/mcp' };
    await start([{ 'tools/list': pagesOf({ tools: toolsOf(1) }) }], { down, gone: down });
    const first = await page('tools/list');
    expect(names(first)).toEqual(['a_t0']);
    expect(first.nextCursor).toBeUndefined();
  });

  it('waits for all backends at the same time', async () => {
    const asked: FakeCall[] = [];
    const lastAnswersAll = (call: FakeCall) => {
      asked.push(call);
      if (asked.length === 3) for (const { reply } of asked) reply({ tools: toolsOf(1) });
    };
    await start([lastAnswersAll, lastAnswersAll, lastAnswersAll].map(list => ({ 'tools/list': list })));
    expect(names(await page('tools/list'))).toEqual(['a_t0', 'b_t0', 'c_t0']);
  });

  it('ends before a backend that answers with an error, which the next page is', async () => {
    const error = { code: -32602, message: 'Not today' };
    const fails = ({ id, response }: FakeCall) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ jsonrpc: '2.0', id, error }));
    };
    const works = { 'tools/list': pagesOf({ tools: toolsOf(1) }) };
    await start([works, { 'tools/list': fails }, works]);
    const first = await page('tools/list');
    expect(names(first)).toEqual(['a_t0']);
    expect(await outcomeOf(page('tools/list', first.nextCursor))).toMatchObject(error);
  });

  it('is as long good, and for as many, as the most careful backend says', async () => {
    const tools = toolsOf(1);
    await start([
      { 'tools/list': pagesOf({ tools, ttlMs: 5000, cacheScope: 'public' }) },
      { 'tools/list': pagesOf({ tools, ttlMs: 1000, cacheScope: 'private' }) },
    ]);
    expect(await page('tools/list')).toMatchObject({ ttlMs: 1000, cacheScope: 'private' });
  });
});
