import {
  InMemoryServerEventBus,
  type JSONRPCMessage,
  type Result,
  type Transport,
} from '@modelcontextprotocol/server';
import { McpException } from '../../exceptions/mcp.exception.js';
import { listenStage } from '../../interceptors/boundary/listen-stage.js';
import type { McpCall } from '../../protocol/mcp-call.js';
import type { McpServerInstance } from '../../server/mcp-server-instance.js';
import type { Handlers } from '../../protocol/handlers.js';
import { OpenReplies } from '../../protocol/running-calls.js';
import { composePipeline, type PipelineParts } from '../../server/pipeline.js';
import { gateStdio } from './stdio-gate.js';
import { deferred, type Deferred } from '../../../test/fixtures/deferred.js';
import { Inbox } from '../../../test/fixtures/inbox.js';

interface Asked extends Deferred {
  readonly uri: string;
  readonly signal: AbortSignal;
}

const ENVELOPE = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
};
const listen = (id: number, ...resourceSubscriptions: string[]): JSONRPCMessage => ({
  jsonrpc: '2.0',
  id,
  method: 'subscriptions/listen',
  params: { notifications: { resourceSubscriptions }, _meta: ENVELOPE },
});
const cancelled = (requestId: number): JSONRPCMessage => ({
  jsonrpc: '2.0',
  method: 'notifications/cancelled',
  params: { requestId },
});
const acknowledged = (id: number, ...resourceSubscriptions: string[]): JSONRPCMessage => ({
  jsonrpc: '2.0',
  method: 'notifications/subscriptions/acknowledged',
  params: {
    notifications: { resourceSubscriptions },
    _meta: { 'io.modelcontextprotocol/subscriptionId': id },
  },
});
const call = (id: number): JSONRPCMessage => ({ jsonrpc: '2.0', id, method: 'tools/call' });

/** A connection on which interceptors take as long as the test wants. */
async function connect(handlers?: Partial<Handlers>, isLegacy = false) {
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
    answer: () => () => Promise.resolve({}),
    methods: {},
    description: { capabilities: { resources: { subscribe: true } } },
    ...handlers,
  } as unknown as Handlers;
  const intercept = listenStage(10_000, (uri: string, { reply: { signal } }: McpCall) => {
    const one = { ...deferred(), uri, signal };
    asked.put(one);
    return one.promise;
  });
  const bus = new InMemoryServerEventBus();
  const parts = { handlers: all, extensions: [{ stages: () => ({ intercept }) }], bus, rounds: {} };
  const pipeline = composePipeline(parts as unknown as PipelineParts, 'modern');
  const host = {
    handlers: all,
    serve: (one: McpCall, write: (result: Result) => unknown) => pipeline.get(one.method)!(one, write),
    info: { name: 'gated', version: '1' },
    options: { cache: {} },
    extensions: { resultTypes: new Set() },
  } as unknown as McpServerInstance;
  const replies = new OpenReplies();
  const gated = gateStdio(transport, host, replies, () => isLegacy);
  gated.onmessage = passed.put;
  await gated.start();
  return {
    asked,
    passed,
    sent,
    receive: (message: JSONRPCMessage) => transport.onmessage!(message),
    transport,
    bus,
    replies,
  };
}

it('a request to listen that is being decided holds up no other', async () => {
  const { asked, passed, sent, receive } = await connect();
  receive(listen(1, 'a://1'));
  receive(call(2));
  expect(await passed.take()).toEqual(call(2));
  receive(listen(3, 'a://3'));
  const [first, second] = [await asked.take(), await asked.take()];
  second.resolve();
  expect(await sent.take()).toEqual(acknowledged(3, 'a://3'));
  first.resolve();
  expect(await sent.take()).toEqual(acknowledged(1, 'a://1'));
  expect(passed.size).toBe(0);
});

it('the SDK answers a request to listen on a connection of the 2025 era', async () => {
  const { passed, receive, asked } = await connect(undefined, true);
  receive(listen(1, 'a://1'));
  expect(await passed.take()).toEqual(listen(1, 'a://1'));
  expect(asked.size).toBe(0);
});

it('one that is open gets the changes of its resources, and its result when the server shuts down', async () => {
  const { asked, sent, receive, bus, replies } = await connect();
  receive(listen(1, 'a://1'));
  const { signal, resolve } = await asked.take();
  resolve();
  expect(await sent.take()).toEqual(acknowledged(1, 'a://1'));
  bus.publish({ kind: 'resource_updated', uri: 'a://2' });
  bus.publish({ kind: 'resource_updated', uri: 'a://1' });
  const _meta = { 'io.modelcontextprotocol/subscriptionId': 1 };
  const params = { uri: 'a://1', _meta };
  expect(await sent.take()).toEqual({ jsonrpc: '2.0', method: 'notifications/resources/updated', params });
  expect(signal.aborted).toBe(false);
  await replies.close();
  const serverInfo = { 'io.modelcontextprotocol/serverInfo': { name: 'gated', version: '1' } };
  expect(await sent.take()).toEqual({
    jsonrpc: '2.0',
    id: 1,
    result: { resultType: 'complete', _meta: { ..._meta, ...serverInfo } },
  });
  expect([signal.aborted, sent.size]).toEqual([true, 0]);
});

it.each([
  ['a result', () => Promise.resolve(false), { result: { resultType: 'complete' } }],
  ['an error', () => Promise.reject(new McpException(-32602, 'no')), { error: { message: 'no' } }],
])('one that was answered with %s is over', async (_, admitSubscription, answer) => {
  const { asked, passed, sent, receive } = await connect({ admitSubscription });
  receive(listen(1, 'a://1'));
  const { signal, resolve } = await asked.take();
  expect(signal.aborted).toBe(false);
  resolve();
  if ('result' in answer) await sent.take();
  expect(await sent.take()).toMatchObject({ id: 1, ...answer });
  expect(signal.aborted).toBe(true);
  receive(cancelled(1));
  expect(await passed.take()).toEqual(cancelled(1));
});

it('a cancellation reaches it at once, and nothing more is heard of it', async () => {
  const { asked, passed, sent, receive, bus } = await connect();
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
  expect(await sent.take()).toEqual(acknowledged(1, 'b://1'));
  receive(cancelled(1));
  bus.publish({ kind: 'resource_updated', uri: 'b://1' });
  expect(again.signal.aborted).toBe(true);
  // The SDK does not know it.
  receive(call(2));
  expect(await passed.take()).toEqual(call(2));
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
  const { asked, sent, receive, transport } = await connect();
  for (let id = 1; id <= 1024; id++) receive(listen(id, 'a://1'));
  (await asked.take()).resolve();
  expect(await sent.take()).toEqual(acknowledged(1, 'a://1'));
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
    const { asked, passed, sent, receive } = await connect(upstream);
    receive(listen(1, 'a://1'));
    receive(call(2));
    receive(cancelled(2));
    (await preparing.take()).resolve();
    const { resolve } = await asked.take();
    (await preparing.take()).resolve();
    expect(await passed.take()).toEqual(call(2));
    expect(await passed.take()).toEqual(cancelled(2));
    resolve();
    expect(await sent.take()).toEqual(acknowledged(1, 'a://1'));
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
