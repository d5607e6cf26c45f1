import { randomUUID } from 'node:crypto';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Inbox } from '../fixtures/inbox.js';
import { textOf } from '../fixtures/matrix.js';
import { backendModule } from './backend-app.js';
import { fakeBackend, type FakeCall } from './fake-backend.js';
import { listen, outcomeOf, startGateway } from './support.js';

/** A client with the header that gateways use among themselves. */
async function connectVia(url: string, via: string): Promise<Client> {
  const client = new Client(
    { name: 'test', version: '1' },
    { versionNegotiation: { mode: { pin: '2026-07-28' } } },
  );
  await client.connect(
    new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: { 'nestjs-mcp-via': via } } }),
  );
  return client;
}

const ids = (count: number) => Array.from({ length: count }, () => randomUUID()).join(', ');

describe('the gateways that a caller says it came through', () => {
  it('are for its own request, and keep nobody else from being connected', async () => {
    const backend = await listen(backendModule());
    const inner = await startGateway({ backend: { url: backend.url } });
    const outer = await startGateway({ backend: { url: inner.url } });
    // The first request of all, so that the connection is to be made for it.
    const refused = outcomeOf(connectVia(outer.url, ids(7)));
    const client = await connectVia(outer.url, ids(1));
    expect(await refused).toMatchObject({ code: 'ERA_NEGOTIATION_FAILED' });
    expect(textOf(await client.callTool({ name: 'echo', arguments: { text: 'a' } }))).toBe('a');
    await client.close();
    for (const { app } of [outer, inner, backend]) await app.close();
  });

  it('are ignored where they are no ids', async () => {
    const sent = new Inbox<unknown>();
    const tell = ({ request }: FakeCall) => sent.put(request.headers['nestjs-mcp-via']);
    const backend = await fakeBackend({
      'tools/call': call => {
        tell(call);
        call.reply({ content: [] });
      },
    });
    const gateway = await startGateway({ backend: { url: backend.url } });
    const known = randomUUID();
    const client = await connectVia(gateway.url, `${'x'.repeat(4000)}, 1,2,3,4,5,6,7,8,9, ${known}`);
    await client.callTool({ name: 't' });
    expect(await sent.take()).toMatch(new RegExp(`^${known},[\\da-f-]{36}$`));
    await client.close();
    await gateway.app.close();
    backend.close();
  });
});
