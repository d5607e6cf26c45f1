import { once } from 'node:events';
import { Injectable } from '@nestjs/common';
import { Ctx, McpContext, McpServerRegistry, MemoryEventStore, Resource, Tool } from 'nestjs-mcp';
import { MemoryMessageBus, MemorySessionStore } from 'nestjs-mcp/testing';
import { MCP_SERVERS, type McpServers } from '../../../lib/module/mcp-servers.js';
import { deferred } from '../../fixtures/deferred.js';
import { EventReader } from '../../fixtures/event-reader.js';
import { LogSpy } from '../../fixtures/log-spy.js';
import { anyPlatform, startApp, type TestApp } from '../../fixtures/matrix.js';
import { endSession, openSession, post, SESSION_HEADERS } from '../../fixtures/raw-session.js';

const PRICES = 'shop://prices';
const UPDATED = { method: 'notifications/resources/updated', params: { uri: PRICES } };
const FORM = {
  message: 'Which size?',
  schema: { type: 'object', properties: { size: { type: 'string' } } },
} as const;

@Injectable()
class Shop {
  release = deferred();
  readonly seen = deferred<McpContext>();

  @Tool()
  hello() {
    return 'hello';
  }

  @Tool()
  async buy(@Ctx() ctx: McpContext) {
    const { content } = await ctx.elicit('size', FORM);
    return `bought ${String(content?.['size'])}`;
  }

  /** Reports, waits, reports again, and answers. */
  @Tool()
  async work(@Ctx() ctx: McpContext) {
    await ctx.reportProgress(1);
    this.seen.resolve(ctx);
    await Promise.race([this.release.promise, once(ctx.signal, 'abort')]);
    await ctx.reportProgress(2);
    return 'done';
  }

  @Tool()
  async talk(@Ctx() ctx: McpContext) {
    await ctx.log.info('quiet');
    await ctx.log.error('loud');
    return 'said';
  }

  @Resource({ uri: PRICES })
  prices() {
    return '1';
  }
}

const call = (id: number, name: string) => ({
  id,
  method: 'tools/call',
  params: { name, arguments: {}, _meta: { progressToken: 'p' } },
});

describe('two nodes that share sessions', () => {
  let nodes: TestApp[];
  let urls: string[];
  let store: MemorySessionStore;
  let bus: MemoryMessageBus;
  let events: MemoryEventStore;
  const [platform] = anyPlatform();

  const startNode = () =>
    startApp([Shop], {
      platform,
      mcp: { bus, sessions: { store, eventStore: events, maxSubscriptions: 2 } },
      forceCloseConnections: true,
    });

  beforeEach(async () => {
    store = new MemorySessionStore();
    bus = new MemoryMessageBus();
    events = new MemoryEventStore();
    nodes = [await startNode(), await startNode()];
    urls = await Promise.all(nodes.map(node => node.url()));
  });
  afterEach(() => Promise.all(nodes.map(node => node.close())));

  const shopOf = (node: number) => nodes[node].app.get(Shop);
  const registryOf = (node: number) => nodes[node].app.get(McpServerRegistry);
  const resume = (node: number, session: Record<string, string>, id?: string) =>
    EventReader.open(urls[node], { ...session, ...(id !== undefined && { 'last-event-id': id }) });
  const open = (node: number, session: Record<string, string>, message: object) =>
    EventReader.open(urls[node], session, { jsonrpc: '2.0', ...message });
  const subscribe = async (node: number, session: Record<string, string>, uri: string) =>
    (await post(urls[node], session, { id: uri, method: 'resources/subscribe', params: { uri } })).json();

  /** A call of the first node, whose client comes back on the second while it runs. */
  const callThatMoves = async () => {
    const session = await openSession(urls[0]);
    const first = await open(0, session, call(7, 'work'));
    const progress = await first.message();
    await shopOf(0).seen.promise;
    const second = await resume(1, session, progress?.id);
    // The node of the call has let go of the first connection.
    expect(await first.next()).toBeUndefined();
    return { session, progress, second };
  };

  it('answer calls of one session on either', async () => {
    const session = await openSession(urls[0]);
    for (const [index, url] of [...urls, ...urls].entries()) {
      const answer = await (await post(url, session, call(index, 'hello'))).json();
      expect(answer).toMatchObject({ id: index, result: { content: [{ text: 'hello' }] } });
    }
  });

  it('refuse a session of another caller, one that has ended and one that never was', async () => {
    const session = await openSession(urls[0]);
    const status = async (node: number, headers: Record<string, string>) =>
      (await post(urls[node], headers, call(1, 'hello'))).status;
    expect(await status(1, { ...session, 'mcp-session-id': crypto.randomUUID() })).toBe(404);
    expect(await status(1, { ...session, 'mcp-session-id': 'node:x' })).toBe(404);
    expect(await status(1, session)).toBe(200);
    expect((await endSession(urls[1], session)).status).toBe(200);
    expect([await status(0, session), await status(1, session)]).toEqual([404, 404]);
    expect(await store.read(`test:${session['mcp-session-id']}`)).toBeUndefined();
  });

  it('answer the open calls of a session that ends', async () => {
    const session = await openSession(urls[0]);
    const reader = await open(0, session, call(7, 'work'));
    await reader.message();
    await shopOf(0).seen.promise;
    await endSession(urls[1], session);
    expect(await reader.message()).toMatchObject({
      message: { id: 7, error: { code: -32000, message: 'The session has ended' } },
    });
    expect(await reader.next()).toBeUndefined();
  });

  it('leave a session of a newer version alone', async () => {
    const session = await openSession(urls[0]);
    await store.update(`test:${session['mcp-session-id']}`, { v: '2' }, 60_000);
    expect((await post(urls[1], session, call(1, 'hello'))).status).toBe(404);
  });

  it.each([
    ['no params', { params: undefined }],
    ['null as params', { params: 'null' }],
    ['params that are no JSON', { params: '{' }],
    ['params that open no session', { params: '{}' }],
    ['no time', { at: undefined }],
    ['a text as time', { at: 'soon' }],
    ['no owner', { caller: undefined }],
    ['no version', { v: undefined }],
  ])('answer 404 if the record of a session has %s', async (_, fields) => {
    const session = await openSession(urls[0]);
    await store.update(`test:${session['mcp-session-id']}`, fields, 60_000);
    for (const id of [1, 2]) expect((await post(urls[1], session, call(id, 'hello'))).status).toBe(404);
  });

  it('drop stored events that are no JSON objects, with one warning', async () => {
    const log = new LogSpy();
    nodes[1].app.useLogger(log);
    const session = await openSession(urls[0]);
    const id = session['mcp-session-id'];
    shopOf(0).release.resolve();
    const first = await open(0, session, call(7, 'work'));
    const progress = await first.message();
    await first.messages();
    const stream = String(progress?.id).split('-')[0];
    const forged = ['{}\n\nid: forged', '8', '{"id":9}'];
    const stored = forged.map((json, index) => ({ stream, sequence: 7 + index, json }));
    await events.append(id, { stream, events: stored });
    const resumed = await resume(1, session, progress?.id);
    expect((await resumed.messages()).slice(1)).toEqual([expect.objectContaining({ id: 7 }), { id: 9 }]);
    await events.offer(
      id,
      ['{', '{"id":10}'].map(json => ({ json, key: json })),
    );
    const listening = await resume(1, session);
    expect((await listening.message())?.message).toEqual({ id: 10 });
    listening.cut();
    expect(log.warnings).toEqual([expect.stringContaining('is no JSON object')]);
  });

  it('carry the answer to a question to the node that asks', async () => {
    const session = await openSession(urls[0], { capabilities: { elicitation: {} } });
    for (const asking of [0, 1]) {
      const stream = await open(asking, session, call(1, 'buy'));
      const question = await stream.message();
      expect(question?.message).toMatchObject({ method: 'elicitation/create' });
      const result = { action: 'accept', content: { size: 'L' } };
      const answer = await post(urls[1 - asking], session, { id: question?.message['id'], result });
      expect(answer.status).toBe(202);
      expect(await stream.messages()).toEqual([
        expect.objectContaining({ id: 1, result: { content: [{ type: 'text', text: 'bought L' }] } }),
      ]);
    }
  });

  it('carry as large an answer as a body may be, and refuse what they cannot keep', async () => {
    const session = await openSession(urls[0], { capabilities: { elicitation: {} } });
    const stream = await open(0, session, call(1, 'buy'));
    const question = await stream.message();
    const sizeOf = (length: number) => ({ action: 'accept', content: { size: 'L'.repeat(length) } });
    // Nobody waits for these, so nobody confirms them.
    const publish = bus.publish.bind(bus);
    const spy = jest.spyOn(bus, 'publish').mockImplementation(async (channel, message) => {
      if (!JSON.stringify(message).includes('"confirmed"')) await publish(channel, message);
    });
    const id = String(question?.message['id']);
    const others = Array.from({ length: 17 }, (_, index) => id.replace(/[^.]*$/, `${index + 100}`));
    const answered = others.map(other => post(urls[1], session, { id: other, result: sizeOf(1) }));
    const statuses = (await Promise.all(answered)).map(({ status }) => status);
    expect(statuses.sort()).toEqual([...Array<number>(16).fill(202), 503]);
    spy.mockRestore();
    stream.cut();

    const again = await openSession(urls[0], { capabilities: { elicitation: {} } });
    const calling = await open(0, again, call(1, 'buy'));
    const large = { id: (await calling.message())?.message['id'], result: sizeOf(2_000_000) };
    expect((await post(urls[1], again, large)).status).toBe(202);
    expect(await calling.messages()).toEqual([expect.objectContaining({ id: 1 })]);
  });

  it('send an answer again that was lost between them', async () => {
    const session = await openSession(urls[0], { capabilities: { elicitation: {} } });
    const stream = await open(0, session, call(1, 'buy'));
    const question = await stream.message();
    const publish = bus.publish.bind(bus);
    let lost = 0;
    jest.spyOn(bus, 'publish').mockImplementation(async (channel, message) => {
      if (lost === 0 && JSON.stringify(message).includes('"answer"')) lost += 1;
      else await publish(channel, message);
    });
    const result = { action: 'accept', content: { size: 'L' } };
    await post(urls[1], session, { id: question?.message['id'], result });
    expect(await stream.messages()).toEqual([
      expect.objectContaining({ result: { content: [{ type: 'text', text: 'bought L' }] } }),
    ]);
    expect(lost).toBe(1);
  });

  it('accept an answer only when it has left for the node that asks', async () => {
    const session = await openSession(urls[0], { capabilities: { elicitation: {} } });
    const stream = await open(0, session, call(1, 'buy'));
    const question = await stream.message();
    const publish = bus.publish.bind(bus);
    const [sending, released] = [deferred(), deferred()];
    jest.spyOn(bus, 'publish').mockImplementation(async (channel, message) => {
      if (JSON.stringify(message).includes('"answer"')) {
        sending.resolve();
        await released.promise;
      }
      await publish(channel, message);
    });
    const result = { action: 'accept', content: { size: 'L' } };
    let isAccepted = false;
    const accepted = post(urls[1], session, { id: question?.message['id'], result }).then(({ status }) => {
      isAccepted = true;
      return status;
    });
    await sending.promise;
    await post(urls[1], session, call(2, 'hello'));
    expect(isAccepted).toBe(false);
    released.resolve();
    expect(await accepted).toBe(202);
    stream.cut();
  });

  it('send what the store has handed out although its answer was lost', async () => {
    const session = await openSession(urls[0]);
    await subscribe(0, session, PRICES);
    const told = await resume(0, session);
    const take = events.take.bind(events);
    jest.spyOn(events, 'take').mockImplementationOnce(async (...args) => {
      await take(...args);
      throw new Error('connection lost');
    });
    registryOf(0).resourceUpdated(PRICES);
    expect((await told.message())?.message).toMatchObject(UPDATED);
    told.cut();
  });

  it('do not take an answer of another session', async () => {
    const session = await openSession(urls[0], { capabilities: { elicitation: {} } });
    const other = await openSession(urls[0], { capabilities: { elicitation: {} } });
    const stream = await open(0, session, call(1, 'buy'));
    const question = await stream.message();
    const id = question?.message['id'];
    const answer = (size: string) => ({ id, result: { action: 'accept', content: { size } } });
    for (const url of urls) await post(url, other, answer('stolen'));
    await post(urls[1], session, answer('L'));
    expect(await stream.messages()).toEqual([
      expect.objectContaining({ result: { content: [{ type: 'text', text: 'bought L' }] } }),
    ]);
  });

  it('cancel a call that runs on the other', async () => {
    const session = await openSession(urls[0]);
    const stream = await open(0, session, call(1, 'work'));
    const { signal } = await shopOf(0).seen.promise;
    const cancelled = signal.aborted || once(signal, 'abort');
    await post(urls[1], session, { method: 'notifications/cancelled', params: { requestId: 1 } });
    await cancelled;
    expect((await stream.messages()).filter(message => 'id' in message)).toEqual([]);
  });

  it('know the log level and the subscriptions that were set on the other', async () => {
    const session = await openSession(urls[0]);
    await post(urls[1], session, call(1, 'hello'));
    await post(urls[0], session, { id: 2, method: 'logging/setLevel', params: { level: 'error' } });
    for (const url of urls) {
      const text = await (await post(url, session, call(3, 'talk'))).text();
      expect([text.includes('quiet'), text.includes('loud')]).toEqual([false, true]);
    }
    await subscribe(0, session, PRICES);
    const told = await resume(1, session);
    registryOf(1).resourceUpdated(PRICES);
    expect((await told.message())?.message).toMatchObject(UPDATED);
    // A node that meets the session later knows, too.
    const late = await startNode();
    nodes.push(late);
    const url = await late.url();
    expect(await (await post(url, session, call(4, 'talk'))).text()).not.toContain('quiet');
    late.app.get(McpServerRegistry).resourceUpdated(PRICES);
    expect((await told.message())?.message).toMatchObject(UPDATED);
    told.cut();
  });

  it('know a subscription that was set on a node that did not hear that it is the home no longer', async () => {
    const session = await openSession(urls[0]);
    const lost = jest.spyOn(bus, 'publish').mockResolvedValue();
    const told = await resume(1, session);
    lost.mockRestore();
    await subscribe(0, session, PRICES);
    registryOf(0).resourceUpdated(PRICES);
    expect((await told.message())?.message).toMatchObject(UPDATED);
    told.cut();
  });

  it('know a subscription that was set while another node became the home', async () => {
    const session = await openSession(urls[0]);
    const read = store.read.bind(store);
    jest.spyOn(store, 'read').mockImplementationOnce(async id => {
      const fields = await read(id);
      await subscribe(0, session, PRICES);
      return fields;
    });
    const told = await resume(1, session);
    registryOf(0).resourceUpdated(PRICES);
    expect((await told.message())?.message).toMatchObject(UPDATED);
    told.cut();
  });

  it('send a change once, whichever node has it and whichever the stream', async () => {
    const session = await openSession(urls[0]);
    await subscribe(1, session, PRICES);
    const streams = [await resume(0, session), await resume(1, session)];
    const other = await openSession(urls[1]);
    const quiet = await resume(0, other);
    const sent = 10;
    for (let index = 0; index < sent; index++) registryOf(index % 2).resourceUpdated(PRICES);
    const got: unknown[] = [];
    const reading = streams.map(async stream => {
      for (let next = await stream.message(); next; next = await stream.message()) {
        got.push(next.message);
        if (got.length === sent) await endSession(urls[0], session);
      }
    });
    await Promise.all(reading);
    expect(got).toEqual(Array.from({ length: sent }, () => expect.objectContaining(UPDATED)));
    await endSession(urls[1], other);
    expect(await quiet.messages()).toEqual([]);
  });

  it('keep a change for a client that listens nowhere, and send it wherever it comes back', async () => {
    const session = await openSession(urls[0]);
    await subscribe(0, session, PRICES);
    const offered = jest.spyOn(events, 'offer');
    registryOf(1).resourceUpdated(PRICES);
    while (offered.mock.results.length === 0) await new Promise(setImmediate);
    const told = await resume(1, session);
    expect((await told.message())?.message).toMatchObject(UPDATED);
    told.cut();
  });

  it('resume a call of the other, while it runs and after it is over', async () => {
    const { session, progress, second } = await callThatMoves();
    shopOf(0).release.resolve();
    const rest = [
      expect.objectContaining({ params: expect.objectContaining({ progress: 2 }) }),
      expect.objectContaining({ id: 7, result: { content: [{ type: 'text', text: 'done' }] } }),
    ];
    expect(await second.messages()).toEqual(rest);
    const third = await resume(1, session, progress?.id);
    expect(await third.messages()).toEqual(rest);
    const late = await startNode();
    nodes.push(late);
    const fourth = await EventReader.open(await late.url(), { ...session, 'last-event-id': progress!.id! });
    expect(await fourth.messages()).toEqual(rest);
  });

  it('resume a listening stream of the other, with what it has missed, once and in order', async () => {
    const session = await openSession(urls[0]);
    await subscribe(0, session, PRICES);
    const change = async (name: string) =>
      registryOf(1).add('tool', { name, inputSchema: { type: 'object' } }, () => name);
    const first = await resume(0, session);
    await change('a');
    const seen = await first.message();
    // The connection of the first stream is still open: only the client knows that it is dead.
    registryOf(0).resourceUpdated(PRICES);
    const lost = await first.message();
    expect(lost?.message).toMatchObject(UPDATED);
    const second = await resume(1, session, seen?.id);
    expect(await second.message()).toEqual(lost);
    await change('b');
    registryOf(0).resourceUpdated(PRICES);
    const kinds = [await second.message(), await second.message()].map(next => next?.message['method']);
    expect(kinds.sort()).toEqual([UPDATED.method, 'notifications/tools/list_changed']);
    expect(await first.next()).toBeUndefined();
    second.cut();
  });

  it('give nothing of a session to another, whatever event it names', async () => {
    const session = await openSession(urls[0]);
    const other = await openSession(urls[1]);
    const stream = await open(0, session, call(7, 'work'));
    const progress = await stream.message();
    const stolen = await resume(1, other, progress?.id);
    shopOf(0).release.resolve();
    await stream.messages();
    await endSession(urls[0], other);
    expect(await stolen.messages()).toEqual([]);
  });

  it('send the rest of a listening stream to its latest reader, also back on its first node', async () => {
    const session = await openSession(urls[0]);
    await subscribe(0, session, PRICES);
    const first = await resume(0, session);
    registryOf(0).resourceUpdated(PRICES);
    const seen = await first.message();
    const second = await resume(1, session, seen?.id);
    expect(await first.next()).toBeUndefined();
    const third = await resume(0, session, seen?.id);
    expect(await second.messages()).toEqual([]);
    registryOf(1).resourceUpdated(PRICES);
    expect((await third.message())?.message).toMatchObject(UPDATED);
    third.cut();
  });

  it('keep the names of streams apart when a session comes back to a node', async () => {
    const brief = await startApp([Shop], {
      mcp: { bus, sessions: { store, eventStore: events, idleTimeoutMs: 100 } },
      forceCloseConnections: true,
    });
    nodes.push(brief);
    const url = await brief.url();
    const { sessions } = brief.app.get<McpServers>(MCP_SERVERS).get()!.limits;
    const session = await openSession(urls[0]);
    const ids = new Set<string | undefined>();
    for (const id of [7, 8]) {
      brief.app.get(Shop).release.resolve();
      const stream = await EventReader.open(url, session, { jsonrpc: '2.0', ...call(id, 'work') });
      ids.add((await stream.next())?.id);
      await stream.messages();
      while (sessions.size > 0) await new Promise(setImmediate);
    }
    expect(ids.size).toBe(2);
  });

  it('hand a listening client over when one of them closes', async () => {
    const session = await openSession(urls[0]);
    await subscribe(0, session, PRICES);
    const first = await resume(0, session);
    const { id } = (await first.next())!;
    const closed = nodes[0].close();
    expect(await first.next()).toEqual({ retry: '100' });
    expect(await first.next()).toBeUndefined();
    await closed;
    const second = await resume(1, session, id);
    registryOf(1).resourceUpdated(PRICES);
    expect((await second.message())?.message).toMatchObject(UPDATED);
    second.cut();
    nodes.shift();
  });

  it('keep a change that comes while the only node of a session closes', async () => {
    const session = await openSession(urls[0]);
    await subscribe(0, session, PRICES);
    const first = await resume(0, session);
    const { id } = (await first.next())!;
    const closed = nodes[0].close();
    await first.messages();
    registryOf(1).resourceUpdated(PRICES);
    const second = await resume(1, session, id);
    expect((await second.message())?.message).toMatchObject(UPDATED);
    second.cut();
    await closed;
    nodes.shift();
  });

  it('tell each other nothing that no node has asked for, and little of what a client makes up', async () => {
    const session = await openSession(urls[0]);
    const publish = jest.spyOn(bus, 'publish');
    await post(urls[0], session, { id: 'deadbeef.1', result: { text: 'x'.repeat(10_000) } });
    await post(urls[0], session, {
      method: 'notifications/cancelled',
      params: { requestId: 5, reason: 'x'.repeat(10_000) },
    });
    await post(urls[0], session, {
      method: 'notifications/cancelled',
      params: { requestId: 'x'.repeat(10_000) },
    });
    const told = publish.mock.calls.map(([, message]) => JSON.stringify(message));
    expect(told.filter(message => message.includes('"cancel"'))).toHaveLength(1);
    expect(told.filter(message => message.includes('"answer"'))).toEqual([]);
    expect(Math.max(...told.map(({ length }) => length))).toBeLessThan(1000);
  });

  it('survive messages for a session that one of them refuses', async () => {
    const stray = jest.fn();
    process.on('unhandledRejection', stray);
    const session = await openSession(urls[0]);
    const read = store.read.bind(store);
    const asked = deferred();
    const go = deferred();
    jest.spyOn(store, 'read').mockImplementationOnce(async id => {
      asked.resolve();
      await go.promise;
      await read(id);
      throw new Error('connection lost');
    });
    const refused = post(urls[1], session, call(1, 'hello'));
    await asked.promise;
    await post(urls[0], session, { method: 'notifications/cancelled', params: { requestId: 99 } });
    await new Promise(setImmediate);
    go.resolve();
    expect((await refused).status).toBe(503);
    await new Promise(setImmediate);
    process.off('unhandledRejection', stray);
    expect(stray).not.toHaveBeenCalled();
    expect((await post(urls[1], session, call(2, 'hello'))).status).toBe(200);
  });

  it('hold a session only at its home once its requests are answered', async () => {
    const session = await openSession(urls[0]);
    const reads = jest.spyOn(store, 'read');
    const updates = jest.spyOn(store, 'update');
    for (const id of [1, 2, 3]) await post(urls[0], session, call(id, 'hello'));
    expect([reads.mock.calls.length, updates.mock.calls.length]).toEqual([0, 0]);
    const ofSession = () => reads.mock.calls.filter(([id]) => id.endsWith(session['mcp-session-id'])).length;
    for (const id of [4, 5, 6]) {
      await (await post(urls[1], session, call(id, 'hello'))).json();
      await new Promise(setImmediate);
    }
    expect([ofSession(), updates.mock.calls.length]).toEqual([3, 0]);
  });

  it('keep within its cap what a node holds of sessions that others have accepted', async () => {
    const strict = await startApp([Shop], {
      mcp: { bus, sessions: { store, eventStore: events, max: 1 } },
      forceCloseConnections: true,
    });
    nodes.push(strict);
    const url = await strict.url();
    const sessions = [await openSession(urls[0]), await openSession(urls[0]), await openSession(urls[0])];
    for (const session of sessions) {
      const stream = await EventReader.open(url, session);
      await stream.next();
      const noted = jest.spyOn(store, 'update');
      stream.cut();
      while (noted.mock.calls.length === 0) await new Promise(setImmediate);
      noted.mockRestore();
    }
    await new Promise(setImmediate);
    const reads = jest.spyOn(store, 'read');
    for (const session of sessions) expect((await post(url, session, call(1, 'hello'))).status).toBe(200);
    const read = sessions.filter(session =>
      reads.mock.calls.some(([id]) => id.endsWith(session['mcp-session-id'])),
    );
    expect(read).toHaveLength(2);
  });

  it('tell a client that listens again that a list has changed, without a message for each session', async () => {
    const session = await openSession(urls[0]);
    const sent = [jest.spyOn(events, 'push'), jest.spyOn(events, 'offer')];
    await registryOf(1).add('tool', { name: 'late', inputSchema: { type: 'object' } }, () => 'late');
    await new Promise(setImmediate);
    expect(sent.map(({ mock }) => mock.calls.length)).toEqual([0, 0]);
    const told = await resume(1, session);
    expect((await told.message())?.message).toMatchObject({ method: 'notifications/tools/list_changed' });
    told.cut();
  });

  it.each([
    ['the other node', () => nodes[0]],
    [
      'a node that has just started',
      async () => {
        const fresh = await startNode();
        nodes.push(fresh);
        return fresh;
      },
    ],
  ])('send a change to a client whose home has gone, when it comes back to %s', async (_, next) => {
    const session = await openSession(urls[0]);
    await subscribe(0, session, PRICES);
    const first = await resume(0, session);
    registryOf(0).resourceUpdated(PRICES);
    const seen = await first.message();
    first.cut();
    await nodes[0].close();
    nodes.shift();
    registryOf(0).resourceUpdated(PRICES);
    await new Promise(setImmediate);
    const node = await next();
    const second = await EventReader.open(await node.url(), { ...session, 'last-event-id': seen!.id! });
    expect((await second.message())?.message).toMatchObject(UPDATED);
    second.cut();
  });

  it('tell each other again what was lost between them, as in an outage', async () => {
    const session = await openSession(urls[0]);
    await subscribe(0, session, PRICES);
    const told = await resume(0, session);
    jest.spyOn(bus, 'publish').mockResolvedValueOnce();
    registryOf(1).resourceUpdated(PRICES);
    expect((await told.message())?.message).toMatchObject(UPDATED);
    registryOf(1).resourceUpdated(PRICES);
    registryOf(0).resourceUpdated(PRICES);
    expect((await told.message())?.message).toMatchObject(UPDATED);
    expect((await told.message())?.message).toMatchObject(UPDATED);
    told.cut();
  });

  it('send changes where the client listens, although another node took it for dead', async () => {
    const session = await openSession(urls[0]);
    await subscribe(0, session, PRICES);
    const told = await resume(0, session);
    registryOf(0).resourceUpdated(PRICES);
    const node = /^l(\w+)\./.exec((await told.message())!.id!)![1];
    // As in an outage of the part of a cluster that keeps the beats of the node.
    await store.delete(`node:${node}`);
    await bus.publish('sessions:test', { v: 1, node: 'other', data: { leaves: node } });
    await post(urls[1], session, { id: 1, method: 'ping' });
    for (let change = 0; change < 3; change++) {
      registryOf(1).resourceUpdated(PRICES);
      expect((await told.message())?.message).toMatchObject(UPDATED);
    }
    told.cut();
  });

  it('send a change that a node has stored which did not hear that it is the home no longer', async () => {
    const session = await openSession(urls[0]);
    await subscribe(0, session, PRICES);
    const first = await resume(0, session);
    registryOf(0).resourceUpdated(PRICES);
    const seen = await first.message();
    first.cut();
    const lost = jest.spyOn(bus, 'publish').mockResolvedValue();
    const offered = jest.spyOn(events, 'offer');
    const second = await resume(1, session, seen?.id);
    registryOf(0).resourceUpdated(PRICES);
    while (offered.mock.results.length === 0) await new Promise(setImmediate);
    await offered.mock.results[0].value;
    lost.mockRestore();
    expect((await second.message())?.message).toMatchObject(UPDATED);
    second.cut();
  });

  it.each<[string, (session: Record<string, string>) => Promise<unknown>]>([
    ['another node reads it', session => post(urls[0], session, { id: 1, method: 'ping' })],
    [
      'its node checks it after an outage',
      session => {
        jest.spyOn(store, 'update').mockRejectedValueOnce(new Error('connection lost'));
        return post(urls[1], session, { id: 1, method: 'logging/setLevel', params: { level: 'error' } });
      },
    ],
  ])(
    'send changes where the client listens if a failover has lost that record, once %s',
    async (_, notice) => {
      const session = await openSession(urls[0]);
      await subscribe(0, session, PRICES);
      const first = await resume(0, session);
      registryOf(0).resourceUpdated(PRICES);
      const seen = await first.message();
      const key = `test:${session['mcp-session-id']}`;
      const lost = await store.read(key);
      const told = await resume(1, session, seen?.id);
      expect(await first.next()).toBeUndefined();
      const taken = await store.read(key);
      expect(taken?.['home']).not.toBe(lost?.['home']);
      await store.create(key, lost!, 60_000);
      await notice(session);
      while ((await store.read(key))?.['home'] !== taken?.['home']) await new Promise(setImmediate);
      for (const registry of [registryOf(0), registryOf(1)]) {
        registry.resourceUpdated(PRICES);
        expect((await told.message())?.message).toMatchObject(UPDATED);
      }
      told.cut();
    },
  );

  it('do not refuse a session that another node has accepted', async () => {
    const strict = await startApp([Shop], {
      mcp: { bus, sessions: { store, eventStore: events, max: 1 } },
      forceCloseConnections: true,
    });
    nodes.push(strict);
    const url = await strict.url();
    const accepted = [await openSession(urls[0]), await openSession(urls[0]), await openSession(url)];
    for (const session of accepted) expect((await post(url, session, call(1, 'hello'))).status).toBe(200);
    const refused = await post(url, SESSION_HEADERS, { id: 1, method: 'initialize', params: INITIALIZE });
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '30']);
  });

  describe('and whose store fails', () => {
    const down = () => Promise.reject(new Error('connection lost'));
    const fail = () =>
      (['create', 'read', 'update', 'delete'] as const).map(method =>
        jest.spyOn(store, method).mockImplementation(down),
      );

    it('refuse what needs it with 503, and recover', async () => {
      const session = await openSession(urls[0]);
      const spies = fail();
      for (const [headers, message] of [
        [session, call(1, 'hello')],
        [SESSION_HEADERS, { id: 1, method: 'initialize', params: INITIALIZE }],
      ] as const) {
        const refused = await post(urls[1], headers, message);
        expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
        const body = (await refused.json()) as object;
        expect(body).toMatchObject({ jsonrpc: '2.0', error: { code: -32000 } });
        expect(JSON.stringify(body)).not.toContain('connection lost');
      }
      const modern = await nodes[1].client({ era: 'modern' });
      expect(await modern.callTool({ name: 'hello' })).toMatchObject({ content: [{ text: 'hello' }] });
      for (const spy of spies) spy.mockRestore();
      expect((await post(urls[1], session, call(1, 'hello'))).status).toBe(200);
    });

    it('do not say that a session has ended that has not', async () => {
      const session = await openSession(urls[0]);
      const spies = fail();
      expect((await endSession(urls[0], session)).status).toBe(503);
      for (const spy of spies) spy.mockRestore();
      expect((await post(urls[1], session, call(1, 'hello'))).status).toBe(200);
    });

    it('keep the answer of a call that ends meanwhile', async () => {
      const { second } = await callThatMoves();
      const spies = [
        ...fail(),
        jest.spyOn(events, 'append').mockImplementation(down),
        jest.spyOn(bus, 'publish').mockResolvedValue(undefined),
      ];
      shopOf(0).release.resolve();
      while (spies[4].mock.calls.length < 1) await new Promise(setImmediate);
      for (const spy of spies) spy.mockRestore();
      expect((await second.messages()).at(-1)).toMatchObject({
        id: 7,
        result: { content: [{ text: 'done' }] },
      });
    });

    it('do not change a subscription that the other would not know', async () => {
      const session = await openSession(urls[0]);
      const spies = fail();
      expect(await subscribe(0, session, PRICES)).toMatchObject({ error: { code: -32000 } });
      for (const spy of spies) spy.mockRestore();
      const told = await resume(0, session);
      registryOf(0).resourceUpdated(PRICES);
      expect(await subscribe(0, session, PRICES)).toMatchObject({ result: {} });
      registryOf(0).resourceUpdated(PRICES);
      expect((await told.message())?.message).toMatchObject(UPDATED);
      await endSession(urls[0], session);
      expect(await told.messages()).toEqual([]);
    });
  });
});

const INITIALIZE = {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'raw', version: '1' },
};

it('needs a bus and an event store for shared sessions', async () => {
  const starting = startApp([Shop], { mcp: { sessions: { store: new MemorySessionStore() } } });
  await expect(starting).rejects.toThrow('"sessions.store" needs "sessions.eventStore" and "bus"');
});
