import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/server';
import { McpException } from '../../exceptions/mcp.exception.js';
import { listenStage } from '../../interceptors/boundary/listen-stage.js';
import type { McpCall } from '../../protocol/mcp-call.js';
import type { McpServerInstance } from '../../server/mcp-server-instance.js';
import type { Handlers } from '../../protocol/handlers.js';
import { composeListening } from '../../server/pipeline.js';
import { gateListen } from './listen-gate.js';
import { deferred, type Deferred } from '../../../test/fixtures/deferred.js';
import { Inbox } from '../../../test/fixtures/inbox.js';

interface Asked extends Deferred {
  readonly uri: string;
  readonly signal: AbortSignal;
}

const listen = (id: number, ...resourceSubscriptions: string[]): JSONRPCMessage => ({
  jsonrpc: '2.0',
  id,
  method: 'subscriptions/listen',
  params: { notifications: { resourceSubscriptions } },
});
const cancelled = (requestId: number): JSONRPCMessage => ({
  jsonrpc: '2.0',
  method: 'notifications/cancelled',
  params: { requestId },
});
const call = (id: number): JSONRPCMessage => ({ jsonrpc: '2.0', id, method: 'tools/call' });

/** A connection on which interceptors take as long as the test wants. */
async function connect(handlers?: Partial<Handlers>) {
  const asked = new Inbox<Asked>();
  const passed = new Inbox<JSONRPCMessage>();
  const sent = new Inbox<JSONRPCMessage>();
  const transport: Transport = {
    start: () => Promise.resolve(),
    send: message => Promise.resolve(sent.put(message)),
    close: () => Promise.resolve(),
  };
  const all = {
    subscriptionsAtOnce: 1,
    admitSubscription: () => Promise.resolve(true),
    ...handlers,
  } as Handlers;
  const intercept = listenStage(10_000, (uri: string, { reply: { signal } }: McpCall) => {
    const one = { ...deferred(), uri, signal };
    asked.put(one);
    return one.promise;
  });
  const host = {
    handlers: all,
    listening: composeListening({
      extensions: [{ stages: () => ({ intercept }) }],
      handlers: all,
    }),
  } as McpServerInstance;
  const gated = gateListen(transport, host);
  gated.onmessage = passed.put;
  await gated.start();
  return {
    asked,
    passed,
    sent,
    receive: (message: JSONRPCMessage) => transport.onmessage!(message),
    transport,
    gated,
  };
}

it('a request to listen that is being decided holds up no other', async () => {
  const { asked, passed, receive } = await connect();
  receive(listen(1, 'a://1'));
  receive(call(2));
  expect(await passed.take()).toEqual(call(2));
  receive(listen(3, 'a://3'));
  const [first, second] = [await asked.take(), await asked.take()];
  second.resolve();
  expect(await passed.take()).toEqual(listen(3, 'a://3'));
  first.resolve();
  expect(await passed.take()).toEqual(listen(1, 'a://1'));
});

it.each([{ result: {} }, { error: { code: -32602, message: 'no' } }])(
  'one that was answered is over: %j',
  async answer => {
    const { asked, passed, receive, gated } = await connect();
    receive(listen(1, 'a://1'));
    const { signal, resolve } = await asked.take();
    resolve();
    await passed.take();
    expect(signal.aborted).toBe(false);
    await gated.send({ jsonrpc: '2.0', id: 1, ...answer });
    expect(signal.aborted).toBe(true);
  },
);

it('a cancellation reaches it at once, and nothing more is heard of it', async () => {
  const { asked, passed, sent, receive } = await connect();
  receive(listen(1, 'a://1', 'a://2'));
  const { signal, resolve } = await asked.take();
  receive(cancelled(1));
  expect(signal.aborted).toBe(true);
  resolve();
  // The same id once more is another request.
  receive(listen(1, 'b://1'));
  const again = await asked.take();
  expect(again.uri).toBe('b://1');
  again.resolve();
  expect(await passed.take()).toEqual(listen(1, 'b://1'));
  receive(cancelled(1));
  expect(await passed.take()).toEqual(cancelled(1));
  expect([asked.size, passed.size, sent.size]).toEqual([0, 0, 0]);
});

it('one that was refused is answered, and not passed on', async () => {
  const { asked, passed, sent, receive } = await connect();
  receive(listen(1, 'a://1'));
  (await asked.take()).reject(new McpException(-32602, 'no'));
  expect(await sent.take()).toMatchObject({ id: 1, error: { message: 'no' } });
  receive(call(2));
  expect(await passed.take()).toEqual(call(2));
});

it('no more than 1,024 are open, those that are being decided included', async () => {
  const { asked, passed, sent, receive, transport } = await connect();
  for (let id = 1; id <= 1024; id++) receive(listen(id, 'a://1'));
  (await asked.take()).resolve();
  await passed.take();
  receive(listen(1025, 'a://1'));
  expect(await sent.take()).toMatchObject({ id: 1025, error: { message: 'Subscription limit reached' } });
  receive(cancelled(1));
  receive(listen(1026, 'a://2'));
  receive(cancelled(1026));
  expect(sent.size).toBe(0);
  transport.onclose!();
});

it('it is given up when the connection ends', async () => {
  const { asked, receive, transport } = await connect();
  receive(listen(1, 'a://1'));
  const { signal } = await asked.take();
  transport.onclose!();
  expect(signal.aborted).toBe(true);
});

describe('where something stands behind the server', () => {
  const preparing = new Inbox<Deferred & { signal: AbortSignal }>();
  const upstream: Partial<Handlers> = {
    prepare({ reply: { signal } }) {
      const one = { ...deferred(), signal };
      preparing.put(one);
      return one.promise;
    },
  };

  it('what it gets ready for keeps its order, and a decision holds up nothing', async () => {
    const { asked, passed, receive } = await connect(upstream);
    receive(listen(1, 'a://1'));
    receive(call(2));
    receive(cancelled(2));
    (await preparing.take()).resolve();
    const { resolve } = await asked.take();
    (await preparing.take()).resolve();
    expect(await passed.take()).toEqual(call(2));
    expect(await passed.take()).toEqual(cancelled(2));
    resolve();
    expect(await passed.take()).toEqual(listen(1, 'a://1'));
  });

  it('a request to listen that it cannot get ready for is answered, and its id is free again', async () => {
    const { asked, passed, sent, receive } = await connect(upstream);
    receive(listen(1, 'a://1'));
    (await preparing.take()).reject(new McpException(-32603, 'down'));
    expect(await sent.take()).toMatchObject({ id: 1, error: { message: 'down' } });
    receive(cancelled(1));
    expect(await passed.take()).toEqual(cancelled(1));
    expect(asked.size).toBe(0);
  });

  it('a cancellation reaches a request to listen that it gets ready for', async () => {
    const { asked, passed, sent, receive } = await connect(upstream);
    receive(listen(1, 'a://1'));
    const { signal, reject } = await preparing.take();
    receive(cancelled(1));
    expect(signal.aborted).toBe(true);
    reject(signal.reason);
    receive(call(2));
    (await preparing.take()).resolve();
    expect(await passed.take()).toEqual(call(2));
    expect([asked.size, passed.size, sent.size]).toEqual([0, 0, 0]);
  });
});
