import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import type { Client } from '@modelcontextprotocol/client';
import { Inbox } from '../fixtures/inbox.js';
import { textOf } from '../fixtures/matrix.js';
import { fakeBackend, type FakeBackend, type FakeCall } from './fake-backend.js';
import { connect, ERAS, outcomeOf, startGateway, type Running } from './support.js';

const uri = 'good://a';

describe.each(ERAS)(
  'of several backends, one that takes connections and says nothing, for a %s client',
  era => {
    let hole: Server;
    const sockets = new Set<Socket>();
    let good: FakeBackend;
    let gateway: Running;
    let client: Client;

    beforeAll(async () => {
      let isClosed = true;
      hole = createServer(socket => {
        sockets.add(socket.on('error', () => {}));
        if (isClosed) socket.destroy();
      }).listen(0, '127.0.0.1');
      await once(hole, 'listening');
      good = await fakeBackend(
        {
          'tools/call': ({ reply }) => reply({ content: [{ type: 'text', text: 'good' }] }),
          'resources/list': ({ reply }) => reply({ resources: [{ uri, name: 'a' }] }),
          'resources/templates/list': ({ reply }) => reply({ resourceTemplates: [] }),
          'resources/read': ({ reply }) => reply({ contents: [{ uri, text: 'read' }] }),
        },
        'modern',
        { tools: {}, resources: {} },
      );
      const { port } = hole.address() as AddressInfo;
      gateway = await startGateway({
        backends: {
          // Refuses the first attempt, and would keep the next ones for longer than any test.
          hole: {
            url: `http://127.0.0.1:${port}/mcp`,
            reconnectDelayMs: 1,
            maxReconnectDelayMs: 1,
            connectTimeoutMs: 600_000,
          },
          good: { url: good.url },
        },
      });
      client = await connect(gateway.url, era);
      isClosed = false;
    });
    afterAll(async () => {
      await client.close();
      await gateway.app.close();
      good.close();
      for (const socket of sockets) socket.destroy();
      hole.close();
    });

    it('keeps no call of another waiting', async () => {
      expect(textOf(await client.callTool({ name: 'good_t' }))).toBe('good');
    });

    it('is left out of lists', async () => {
      expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['good_t']);
      expect((await client.listResources()).resources).toHaveLength(1);
    });

    it('keeps nobody from a resource of another', async () => {
      expect((await client.readResource({ uri })).contents).toMatchObject([{ text: 'read' }]);
      expect(await outcomeOf(client.readResource({ uri: 'other://a' }))).toMatchObject({
        code: -32602,
      });
    });
  },
);

describe('of several backends, one that never answers calls', () => {
  const done = { content: [{ type: 'text', text: 'done' }] };

  it.each(ERAS)('leaves a %s client room for calls of the others', async era => {
    const asked = new Inbox<FakeCall>();
    const hung = await fakeBackend({ 'tools/call': call => asked.put(call) });
    const good = await fakeBackend({ 'tools/call': ({ reply }) => reply(done) });
    const gateway = await startGateway({
      backends: { hung: { url: hung.url }, good: { url: good.url } },
      calls: { maxPerCaller: 5 },
    });
    const client = await connect(gateway.url, era);
    // A quarter of the caller's calls, rounded up.
    const held = [1, 2].map(() => client.callTool({ name: 'hung_t' }));
    const requests = [await asked.take(), await asked.take()];
    await expect(client.callTool({ name: 'hung_t' })).rejects.toThrow(
      /Too many calls of the backend .*: the limit of the caller is reached/,
    );
    expect(textOf(await client.callTool({ name: 'good_t' }))).toBe('done');
    expect((await client.listTools()).tools).toHaveLength(2);
    for (const { reply } of requests) reply(done);
    expect((await Promise.all(held)).map(textOf)).toEqual(['done', 'done']);
    const next = client.callTool({ name: 'hung_t' });
    (await asked.take()).reply(done);
    expect(textOf(await next)).toBe('done');
    await client.close();
    await gateway.app.close();
    hung.close();
    good.close();
  });

  it('leaves a client room for calls of the others where its lists never come', async () => {
    const asked = new Inbox<FakeCall>();
    const hung = await fakeBackend({ 'tools/list': call => asked.put(call) });
    const good = await fakeBackend({ 'tools/call': ({ reply }) => reply(done) });
    const gateway = await startGateway({
      backends: { hung: { url: hung.url }, good: { url: good.url } },
      limits: { maxPerCaller: 1 },
    });
    const client = await connect(gateway.url, 'modern');
    const giveUp = new AbortController();
    const held = outcomeOf(client.callTool({ name: 'hung_t' }, { signal: giveUp.signal }));
    await asked.take();
    await expect(client.callTool({ name: 'hung_t' })).rejects.toThrow('calls that wait for a list');
    // Without the wait.
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['good_t']);
    expect(textOf(await client.callTool({ name: 'good_t' }))).toBe('done');
    giveUp.abort();
    await held;
    await client.close();
    await gateway.app.close();
    hung.close();
    good.close();
  });

  it('takes no more than a quarter of a cap that is half of all calls', async () => {
    const asked = new Inbox<FakeCall>();
    const hung = await fakeBackend({ 'tools/call': call => asked.put(call) });
    const good = await fakeBackend({ 'tools/call': ({ reply }) => reply(done) });
    const gateway = await startGateway({
      backends: { hung: { url: hung.url }, good: { url: good.url } },
      calls: { max: 8 },
    });
    const client = await connect(gateway.url, 'modern');
    const giveUp = new AbortController();
    const call = () => client.callTool({ name: 'hung_t' }, { signal: giveUp.signal });
    const held = outcomeOf(call());
    await asked.take();
    await expect(call()).rejects.toThrow('Too many calls of the backend');
    expect(textOf(await client.callTool({ name: 'good_t' }))).toBe('done');
    giveUp.abort();
    await held;
    await client.close();
    await gateway.app.close();
    hung.close();
    good.close();
  });

  it('is alone without such a bound', async () => {
    const asked = new Inbox<FakeCall>();
    const only = await fakeBackend({ 'tools/call': call => asked.put(call) });
    const gateway = await startGateway({ backend: { url: only.url }, limits: { maxPerCaller: 1 } });
    const client = await connect(gateway.url, 'modern');
    const calls = [1, 2].map(() => client.callTool({ name: 't' }));
    for (const { reply } of [await asked.take(), await asked.take()]) reply(done);
    expect((await Promise.all(calls)).map(textOf)).toEqual(['done', 'done']);
    await client.close();
    await gateway.app.close();
    only.close();
  });
});
