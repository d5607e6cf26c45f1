import type { Client } from '@modelcontextprotocol/client';
import { connect, ERAS, listen, outcomeOf, startGateway, type ClientSetup, type Running } from './support.js';
import { backendModule } from './backend-app.js';
import { Inbox } from '../fixtures/inbox.js';
import { textOf } from '../fixtures/matrix.js';
import { post } from '../fixtures/post.js';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { json } from 'node:stream/consumers';

const setup: ClientSetup = {
  capabilities: { elicitation: { form: {} } },
  prepare: client =>
    client.setRequestHandler('elicitation/create', ({ params }) => {
      expect(params.message).toBe('Which size?');
      return { action: 'accept', content: { size: 'XL' } };
    }),
};

const STEPS: Record<string, (client: Client) => Promise<unknown>> = {
  'the first page of tools': client => client.request({ method: 'tools/list' }),
  'the second page of tools': async client => {
    const { nextCursor } = await client.request({ method: 'tools/list' });
    return client.request({ method: 'tools/list', params: { cursor: nextCursor } });
  },
  'an unknown cursor': client => client.request({ method: 'tools/list', params: { cursor: 'nothing' } }),
  prompts: client => client.listPrompts(),
  resources: client => client.listResources(),
  templates: client => client.listResourceTemplates(),
  'a tool': client => client.callTool({ name: 'echo', arguments: { text: 'hi' } }),
  'a failure of a tool': client => client.callTool({ name: 'broken' }),
  'an error with code and data': client => client.callTool({ name: 'refused' }),
  'an unknown tool': client => client.callTool({ name: 'nothing' }),
  'a prompt': client => client.getPrompt({ name: 'talk', arguments: { topic: 'tea' } }),
  'an unknown prompt': client => client.getPrompt({ name: 'nothing' }),
  'a resource': client => client.readResource({ uri: 'state://a' }),
  'a resource of a template': client => client.readResource({ uri: 'user://7' }),
  'an unknown resource': client => client.readResource({ uri: 'nothing://a' }),
  completions: client =>
    client.complete({ ref: { type: 'ref/prompt', name: 'talk' }, argument: { name: 'topic', value: 't' } }),
  'rounds of input': client => client.callTool({ name: 'order' }),
};

describe.each(ERAS)('a 2026 backend over HTTP behind a gateway, for a %s client', era => {
  let backend: Running;
  let gateway: Running;
  let direct: Client;
  let through: Client;

  beforeAll(async () => {
    backend = await listen(backendModule());
    gateway = await startGateway({ backend: { url: backend.url } });
    direct = await connect(backend.url, era, setup);
    through = await connect(gateway.url, era, setup);
  });
  afterAll(async () => {
    await Promise.all([direct?.close(), through?.close()]);
    await gateway?.app.close();
    await backend?.app.close();
  });

  it('shows what it is and can do', () => {
    expect(through.getServerVersion()).toEqual(direct.getServerVersion());
    expect(through.getInstructions()).toEqual(direct.getInstructions());
    expect(through.getServerCapabilities()).toEqual(direct.getServerCapabilities());
  });

  it.each(Object.keys(STEPS))('gives the same for %s', async step => {
    const expected = JSON.stringify(await outcomeOf(STEPS[step](direct)));
    expect(JSON.parse(JSON.stringify(await outcomeOf(STEPS[step](through))))).toEqual(JSON.parse(expected));
  });

  it('hands on `_meta` in both directions, and who the client is', async () => {
    const { structuredContent, _meta } = await through.callTool({
      name: 'meta',
      _meta: { 'example.com/trace': 'a' },
    });
    expect(structuredContent).toMatchObject({
      meta: { 'example.com/trace': 'a', 'nestjs-mcp/hops': 1 },
      clientInfo: { name: 'test', version: '1' },
      clientCapabilities: setup.capabilities,
    });
    expect(_meta).toMatchObject({ 'example.com/answer': 42 });
  });

  it('reports progress', async () => {
    const seen: unknown[] = [];
    await through.callTool({ name: 'progress' }, { onprogress: progress => seen.push(progress) });
    expect(seen).toEqual([
      { progress: 1, total: 2, message: 'half' },
      { progress: 2, total: 2, message: 'all' },
    ]);
  });

  it('hands each log message to the client whose call it is of', async () => {
    const clients = [through, await connect(gateway.url, era)];
    const logs = clients.map(client => {
      const seen: unknown[] = [];
      client.setNotificationHandler('notifications/message', ({ params }) => void seen.push(params.data));
      return seen;
    });
    const _meta = era === 'modern' ? { 'io.modelcontextprotocol/logLevel': 'info' } : {};
    if (era === 'legacy') for (const client of clients) await client.setLoggingLevel('info');
    await Promise.all(
      clients.map((client, index) =>
        client.callTool({ name: 'logs', arguments: { text: `of ${index}` }, _meta }),
      ),
    );
    expect(logs).toEqual([['of 0'], ['of 1']]);
    await clients[1].close();
  });

  it('cancels the call of the backend', async () => {
    const said = new Inbox<string>();
    const log = jest.spyOn(console, 'log').mockImplementation(said.put);
    const cancel = new AbortController();
    const call = through.callTool({ name: 'wait' }, { signal: cancel.signal });
    call.catch(() => undefined);
    expect(await said.take()).toBe('WAITING');
    cancel.abort();
    expect(await said.take()).toBe('ABORTED');
    await expect(call).rejects.toThrow();
    log.mockRestore();
  });

  it('tells of changed lists and resources', async () => {
    const changed = new Inbox<string>();
    const updated = new Inbox<string>();
    through.setNotificationHandler('notifications/tools/list_changed', () => changed.put('changed'));
    through.setNotificationHandler('notifications/resources/updated', ({ params }) =>
      updated.put(params.uri),
    );
    const listening =
      era === 'modern'
        ? await through.listen({ toolsListChanged: true, resourceSubscriptions: ['state://a'] })
        : void (await through.subscribeResource({ uri: 'state://a' }));
    await through.callTool({ name: 'grow', arguments: { name: `grown-${era}` } });
    await changed.take();
    expect((await through.listTools()).tools.map(({ name }) => name)).toContain(`grown-${era}`);
    await through.callTool({ name: 'touch' });
    expect(await updated.take()).toBe('state://a');
    if (listening) await listening.close();
    else await through.unsubscribeResource({ uri: 'state://a' });
  });

  it('refuses a subscription that the backend refuses', async () => {
    const uri = 'nothing://a';
    const outcomes = await Promise.all(
      [direct, through].map(client =>
        outcomeOf(
          era === 'modern'
            ? client.listen({ resourceSubscriptions: [uri] })
            : client.subscribeResource({ uri }),
        ),
      ),
    );
    expect(outcomes[1]).toEqual(outcomes[0]);
    expect(outcomes[1]).toMatchObject({ code: -32602 });
  });

  it('mirrors arguments in `Mcp-Param-*` headers', async () => {
    await through.listTools();
    expect(textOf(await through.callTool({ name: 'regional', arguments: { region: 'Zürich' } }))).toBe(
      'in Zürich',
    );
  });
});

describe('a 2026 backend over HTTP behind a gateway', () => {
  let backend: Running;
  let gateway: Running;
  beforeAll(async () => {
    backend = await listen(backendModule());
    gateway = await startGateway({ backend: { url: backend.url } });
  });
  afterAll(async () => {
    await gateway?.app.close();
    await backend?.app.close();
  });

  it('refuses a call whose headers do not mirror its arguments, whatever it knows of the tool', async () => {
    const message = {
      id: 1,
      method: 'tools/call',
      params: {
        name: 'regional',
        arguments: { region: 'eu' },
        _meta: {
          'io.modelcontextprotocol/protocolVersion': '2026-07-28',
          'io.modelcontextprotocol/clientCapabilities': {},
        },
      },
    };
    const sending = post(gateway.url, message, {
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': 'regional',
      'mcp-param-region': 'us',
    });
    const [response] = (await once(sending, 'response')) as [IncomingMessage];
    expect(response.statusCode).toBe(400);
    expect(await json(response)).toMatchObject({ error: { code: -32020 } });
  });
});
