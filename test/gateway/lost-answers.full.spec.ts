import { outcomeOf, connect, ERAS, startGateway } from './support.js';
import { fakeBackend, type FakeCall } from './fake-backend.js';
import { textOf } from '../fixtures/matrix.js';

const UNREACHABLE = {
  code: -32603,
  message: 'The server behind this gateway cannot be reached; try again later',
};

const log = { method: 'notifications/message', params: { level: 'info', data: 'working' } };

/** How a backend leaves a call without an answer. */
const LOSSES: Record<string, (call: FakeCall) => void> = {
  'ends its event stream': ({ send, response }) => {
    send(log);
    response.end();
  },
  'ends in the middle of an event': ({ id, send, response }) => {
    send(log);
    response.end(`data: {"jsonrpc":"2.0","id":${String(id)},"resu`);
  },
  'is gone in the middle of an event stream': ({ send, response }) => {
    send(log);
    setImmediate(() => response.socket?.resetAndDestroy());
  },
  'answers another request on its event stream': ({ send, response }) => {
    send({ id: 4711, result: {} });
    response.end();
  },
  'answers another request': ({ response }) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end('{"jsonrpc":"2.0","id":4711,"result":{}}');
  },
  'has nothing to say': ({ response }) => void response.writeHead(202).end(),
};

describe.each(ERAS)('a %s backend that leaves a call without an answer', era => {
  it.each(Object.entries(LOSSES))('because it %s', async (_how, lose) => {
    const backend = await fakeBackend({ 'tools/call': lose }, era);
    const gateway = await startGateway({ backend: { url: backend.url } });
    const client = await connect(gateway.url, 'modern');
    expect(await outcomeOf(client.callTool({ name: 't' }))).toMatchObject(UNREACHABLE);
    await client.close();
    await gateway.app.close();
    backend.close();
  });
});

it('an event stream that can be taken up again is', async () => {
  const backend = await fakeBackend(
    {
      'tools/call': ({ send, response }) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write('id: 1\nretry: 1\ndata:\n\n');
        send(log);
        response.end();
      },
    },
    'legacy',
    { tools: {} },
    ({ response }, lastCall) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(
        `data: ${JSON.stringify({ jsonrpc: '2.0', id: lastCall, result: { content: [{ type: 'text', text: 'later' }] } })}\n\n`,
      );
    },
  );
  const gateway = await startGateway({ backend: { url: backend.url } });
  const client = await connect(gateway.url, 'modern');
  expect(textOf(await client.callTool({ name: 't' }))).toBe('later');
  await client.close();
  await gateway.app.close();
  backend.close();
});
