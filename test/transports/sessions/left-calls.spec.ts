import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { Injectable } from '@nestjs/common';
import { Ctx, McpContext, MemoryEventStore, Tool, type McpModuleOptions } from 'nestjs-mcp';
import { MemoryMessageBus, MemorySessionStore } from 'nestjs-mcp/testing';
import { MCP_SERVERS, type McpServers } from '../../../lib/module/mcp-servers.js';
import { EventReader } from '../../fixtures/event-reader.js';
import { Inbox } from '../../fixtures/inbox.js';
import { anyPlatform, platforms, startApp, type TestApp } from '../../fixtures/matrix.js';
import { openSession } from '../../fixtures/raw-session.js';

@Injectable()
class Tools {
  readonly calls = new Inbox<McpContext>();

  /** Sends an event, so that its client can come back, and works until it is cancelled. */
  @Tool()
  async work(@Ctx() ctx: McpContext) {
    await ctx.reportProgress(1);
    this.calls.put(ctx);
    await once(ctx.signal, 'abort');
  }

  /** Asks its client to come back after two minutes. */
  @Tool()
  async rest(@Ctx() ctx: McpContext) {
    await ctx.reportProgress(1);
    this.calls.put(ctx);
    ctx.closeStream(120_000);
    await once(ctx.signal, 'abort');
  }
}

const call = (name: string) => ({
  jsonrpc: '2.0',
  id: 7,
  method: 'tools/call',
  params: { name, arguments: {}, _meta: { progressToken: 'p' } },
});
const GIVEN_UP = { id: 7, error: { code: -32000, message: expect.stringContaining('did not come back') } };

/** Fakes the intervals alone, because HTTP needs the other timers. */
const fakeIntervals = () =>
  jest.useFakeTimers({
    doNotFake: [
      'Date',
      'hrtime',
      'nextTick',
      'performance',
      'queueMicrotask',
      'setImmediate',
      'clearImmediate',
      'setTimeout',
      'clearTimeout',
    ],
  });

/** Lets seconds pass one by one, in which nodes send each other messages. */
async function pass(seconds: number): Promise<void> {
  for (let second = 0; second < seconds; second++) {
    jest.advanceTimersByTime(1000);
    for (let turn = 0; turn < 3; turn++) await new Promise(setImmediate);
  }
}

/** The call of a client that hangs up after the first event. */
async function leave(node: TestApp, session: Record<string, string>, name = 'work') {
  const reader = await EventReader.open(await node.url(), session, call(name));
  const event = await reader.message();
  const ctx = await node.app.get(Tools).calls.take();
  const response = ctx.response as ServerResponse & { readonly raw?: ServerResponse };
  const raw = response.raw ?? response;
  const gone = raw.closed || once(raw, 'close');
  reader.cut();
  await gone;
  return { signal: ctx.signal, id: event?.id };
}

/** Cuts a stream, and waits until its node has seen that. */
async function cut(node: TestApp, reader: EventReader): Promise<void> {
  reader.cut();
  const { listeners } = node.app.get<McpServers>(MCP_SERVERS).get()!.limits;
  while (listeners.size > 0) await new Promise(setImmediate);
}

describe.each(platforms())('a call whose client has hung up on %s', platform => {
  let test: TestApp;
  let url: string;
  let session: Record<string, string>;
  beforeEach(() => fakeIntervals());
  afterEach(async () => {
    jest.useRealTimers();
    await test.close();
  });
  const start = async (sessions: McpModuleOptions['sessions'] = {}) => {
    test = await startApp([Tools], {
      platform,
      mcp: { sessions, calls: { timeoutMs: 0 }, shutdownTimeoutMs: 1 },
      forceCloseConnections: true,
    });
    url = await test.url();
    session = await openSession(url);
  };
  const resume = (id?: string) =>
    EventReader.open(url, { ...session, ...(id !== undefined && { 'last-event-id': id }) });

  it('is cancelled if the client does not come back within a minute, and says so to who comes late', async () => {
    await start();
    const { signal, id } = await leave(test, session);
    await pass(59);
    expect(signal.aborted).toBe(false);
    await pass(10);
    expect(signal.aborted).toBe(true);
    expect(await (await resume(id)).messages()).toEqual([expect.objectContaining(GIVEN_UP)]);
  });

  it('goes on while the client is back, and is cancelled if it leaves for good', async () => {
    await start({ resumeMs: 10_000 });
    const { signal, id } = await leave(test, session);
    await pass(8);
    const back = await resume(id);
    await pass(60);
    expect(signal.aborted).toBe(false);
    await cut(test, back);
    await pass(9);
    expect(signal.aborted).toBe(false);
    await pass(3);
    expect(signal.aborted).toBe(true);
  });

  it('goes on while the session has an open GET stream', async () => {
    await start();
    const listening = await resume();
    const { signal } = await leave(test, session);
    await pass(600);
    expect(signal.aborted).toBe(false);
    await cut(test, listening);
    await pass(70);
    expect(signal.aborted).toBe(true);
  });

  it('has the time until its client was told to come back, too', async () => {
    await start();
    const { signal } = await leave(test, session, 'rest');
    await pass(179);
    expect(signal.aborted).toBe(false);
    await pass(10);
    expect(signal.aborted).toBe(true);
  });

  it('has that time once: a client that came back and left again has a minute', async () => {
    await start();
    const { signal, id } = await leave(test, session, 'rest');
    await pass(121);
    await cut(test, await resume(id));
    await pass(50);
    expect(signal.aborted).toBe(false);
    await pass(20);
    expect(signal.aborted).toBe(true);
  });

  it('goes on with resumeMs false', async () => {
    await start({ resumeMs: false });
    const { signal } = await leave(test, session);
    await pass(6000);
    expect(signal.aborted).toBe(false);
  });
});

describe('a call whose client has hung up on one of two nodes', () => {
  let nodes: TestApp[];
  let session: Record<string, string>;
  let store: MemorySessionStore;
  let bus: MemoryMessageBus;
  beforeEach(async () => {
    fakeIntervals();
    store = new MemorySessionStore();
    bus = new MemoryMessageBus();
    const eventStore = new MemoryEventStore();
    const [platform] = anyPlatform();
    const mcp = { bus, sessions: { store, eventStore }, calls: { timeoutMs: 0 }, shutdownTimeoutMs: 1 };
    const start = () => startApp([Tools], { platform, mcp, forceCloseConnections: true });
    nodes = [await start(), await start()];
    session = await openSession(await nodes[0].url());
  });
  afterEach(async () => {
    jest.useRealTimers();
    await Promise.all(nodes.map(node => node.close()));
  });

  it.each(['resumes it', 'only listens'])('goes on while the client %s on the other', async how => {
    const { signal, id } = await leave(nodes[0], session);
    const headers = { ...session, ...(how === 'resumes it' && id !== undefined && { 'last-event-id': id }) };
    const back = await EventReader.open(await nodes[1].url(), headers);
    await pass(200);
    expect(signal.aborted).toBe(false);
    await cut(nodes[1], back);
    await pass(50);
    expect(signal.aborted).toBe(false);
    await pass(20);
    expect(signal.aborted).toBe(true);
  });

  it('goes on while the nodes cannot reach the store', async () => {
    const { signal } = await leave(nodes[0], session);
    const create = jest.spyOn(store, 'create').mockRejectedValue(new Error('connection lost'));
    await pass(200);
    expect(signal.aborted).toBe(false);
    create.mockRestore();
  });
});
