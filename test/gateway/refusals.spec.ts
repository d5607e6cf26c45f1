import { Inbox } from '../fixtures/inbox.js';
import { textOf } from '../fixtures/matrix.js';
import { fakeBackend, type FakeCall } from './fake-backend.js';
import { connect, outcomeOf, startGateway } from './support.js';

const UNREACHABLE = {
  code: -32603,
  message: 'The server behind this gateway cannot be reached; try again later',
};

const done = { content: [{ type: 'text', text: 'done' }] };
const about = { capabilities: { tools: {} }, serverInfo: { name: 'fake', version: '1' } };

/** What a proxy, or a server that knows nothing of the request's revision, says. */
function badRequest({ response }: FakeCall): void {
  response.writeHead(400, { 'content-type': 'text/html' }).end('<h1>400 Bad Request</h1>');
}

describe('a request that a backend refuses with a plain 400', () => {
  it('fails alone, and has nothing opened anew', async () => {
    const waiting = new Inbox<FakeCall>();
    let discoveries = 0;
    let lists = 0;
    const backend = await fakeBackend({
      'server/discover': ({ reply }) => {
        discoveries += 1;
        reply({ ...about, supportedVersions: ['2026-07-28'] });
      },
      'tools/list': ({ reply }) => {
        lists += 1;
        reply({ tools: [{ name: 't', inputSchema: { type: 'object' } }] });
      },
      'tools/call': call =>
        JSON.stringify(call.params).includes('large') ? badRequest(call) : waiting.put(call),
    });
    const gateway = await startGateway({ backend: { url: backend.url } });
    const [client, other] = [await connect(gateway.url, 'modern'), await connect(gateway.url, 'modern')];
    const call = other.callTool({ name: 't' });
    const { reply } = await waiting.take();
    const refused = outcomeOf(client.callTool({ name: 't', arguments: { a: 'large' } }));
    expect(await refused).toMatchObject(UNREACHABLE);
    reply(done);
    expect(textOf(await call)).toBe('done');
    // The second time to see whether the server is still the same.
    expect([discoveries, lists]).toEqual([2, 1]);
    await client.close();
    await other.close();
    await gateway.app.close();
    backend.close();
  });

  it('has the next one open another connection where the server is another one, and cuts off no other', async () => {
    const waiting = new Inbox<FakeCall>();
    let isReplaced = false;
    const backend = await fakeBackend({
      'server/discover': call =>
        isReplaced ? badRequest(call) : call.reply({ ...about, supportedVersions: ['2026-07-28'] }),
      initialize: ({ reply }) => reply({ ...about, protocolVersion: '2025-11-25' }),
      'tools/call': call => {
        if (!isReplaced) return waiting.put(call);
        if (call.request.headers['mcp-protocol-version'] === '2026-07-28') return badRequest(call);
        call.reply({ content: [{ type: 'text', text: 'of another' }] });
      },
    });
    const gateway = await startGateway({ backend: { url: backend.url } });
    const client = await connect(gateway.url, 'modern');
    const call = client.callTool({ name: 't' });
    const { reply } = await waiting.take();
    isReplaced = true;
    expect(await outcomeOf(client.callTool({ name: 't' }))).toMatchObject(UNREACHABLE);
    expect(textOf(await client.callTool({ name: 't' }))).toBe('of another');
    reply(done);
    expect(textOf(await call)).toBe('done');
    await client.close();
    await gateway.app.close();
    backend.close();
  });
});
