import type { Client } from '@modelcontextprotocol/client';
import { Inbox } from '../fixtures/inbox.js';
import { textOf } from '../fixtures/matrix.js';
import { backendModule } from './backend-app.js';
import { connect, ERAS, listen, outcomeOf, startGateway, type Running } from './support.js';

const setup = (size: string) => ({
  capabilities: { elicitation: { form: {} } },
  prepare: (client: Client) =>
    client.setRequestHandler('elicitation/create', () => ({ action: 'accept', content: { size } })),
});

describe.each(ERAS)('a 2025 backend over HTTP behind a gateway, for a %s client', era => {
  let backend: Running;
  let gateway: Running;
  let clients: Client[];

  beforeAll(async () => {
    backend = await listen(backendModule());
    gateway = await startGateway({ backend: { url: backend.url, era: 'legacy' } });
    clients = await Promise.all(['S', 'L'].map(size => connect(gateway.url, era, setup(size))));
  });
  afterAll(async () => {
    await Promise.all((clients ?? []).map(client => client.close()));
    await gateway?.app.close();
    await backend?.app.close();
  });

  it('asks the client whose call it is, however many run', async () => {
    const calls = clients.flatMap(client => [1, 2, 3].map(() => client.callTool({ name: 'order' })));
    const texts = (await Promise.all(calls)).map(textOf);
    expect(texts).toEqual(['S', 'S', 'S', 'L', 'L', 'L'].map(size => `ordered ${size}`));
  });

  it('hands log messages and progress to the client whose call it is', async () => {
    const logs = clients.map(client => {
      const seen: unknown[] = [];
      client.setNotificationHandler('notifications/message', ({ params }) => void seen.push(params.data));
      return seen;
    });
    const steps: number[] = [];
    const _meta = era === 'modern' ? { 'io.modelcontextprotocol/logLevel': 'info' } : {};
    if (era === 'legacy') for (const client of clients) await client.setLoggingLevel('info');
    await Promise.all([
      ...clients.map((client, index) =>
        client.callTool({ name: 'logs', arguments: { text: `of ${index}` }, _meta }),
      ),
      clients[0].callTool({ name: 'progress' }, { onprogress: ({ progress }) => steps.push(progress) }),
    ]);
    expect(logs).toEqual([['of 0'], ['of 1']]);
    expect(steps).toEqual([1, 2]);
  });

  it('cancels the call of the backend', async () => {
    const said = new Inbox<string>();
    const log = jest.spyOn(console, 'log').mockImplementation(said.put);
    const cancel = new AbortController();
    const call = outcomeOf(clients[0].callTool({ name: 'wait' }, { signal: cancel.signal }));
    expect(await said.take()).toBe('WAITING');
    cancel.abort();
    expect(await said.take()).toBe('ABORTED');
    await call;
    log.mockRestore();
  });

  it('tells of changed lists and resources', async () => {
    const [client] = clients;
    const changed = new Inbox<string>();
    const updated = new Inbox<string>();
    client.setNotificationHandler('notifications/tools/list_changed', () => changed.put('changed'));
    client.setNotificationHandler('notifications/resources/updated', ({ params }) => updated.put(params.uri));
    if (era === 'modern')
      await client.listen({ toolsListChanged: true, resourceSubscriptions: ['state://a'] });
    else await client.subscribeResource({ uri: 'state://a' });
    await client.callTool({ name: 'grow', arguments: { name: `grown-${era}` } });
    await changed.take();
    await client.callTool({ name: 'touch' });
    expect(await updated.take()).toBe('state://a');
  });

  it('opens its sessions anew when the backend has forgotten them', async () => {
    const { port } = new URL(backend.url);
    await backend.app.close();
    backend = await listen(backendModule(), Number(port));
    for (const client of clients) {
      expect(textOf(await client.callTool({ name: 'echo', arguments: { text: 'back' } }))).toBe('back');
    }
  });
});
