import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { Injectable } from '@nestjs/common';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Ctx, McpContext, McpServerRegistry, MemoryEventStore, Tool } from 'nestjs-mcp';
import { deferred } from '../../fixtures/deferred.js';
import { EventReader } from '../../fixtures/event-reader.js';
import { HEADER_GUARD } from '../../fixtures/limits.js';
import { endSession, openSession } from '../../fixtures/raw-session.js';
import { platforms, startApp, textOf, type TestApp } from '../../fixtures/matrix.js';

@Injectable()
class Tools {
  release = deferred();
  readonly seen = deferred<McpContext>();

  /** Reports, waits, reports again, and answers. */
  @Tool()
  async work(@Ctx() ctx: McpContext) {
    await ctx.reportProgress(1);
    this.seen.resolve(ctx);
    await this.release.promise;
    await ctx.reportProgress(2);
    return 'done';
  }

  @Tool()
  async silent(@Ctx() ctx: McpContext) {
    this.seen.resolve(ctx);
    await once(ctx.signal, 'abort');
  }

  @Tool()
  async away(@Ctx() ctx: McpContext) {
    const response = ctx.response as ServerResponse & { readonly raw?: ServerResponse };
    const closed = once(response.raw ?? response, 'close');
    ctx.closeStream(10);
    await closed;
    return 'back';
  }
}

const LATEST = '2025-11-25';
const LIST_CHANGED = { method: 'notifications/tools/list_changed' };

const call = (name: string) => ({
  jsonrpc: '2.0',
  id: 7,
  method: 'tools/call',
  params: { name, arguments: {}, _meta: { progressToken: 'p' } },
});

/** Resolves when the server has seen that the client of its next request hung up. */
const hangUpOf = (test: TestApp): Promise<unknown> => {
  const gone = deferred();
  (test.app.getHttpServer() as Server).once(
    'request',
    (_request: IncomingMessage, response: ServerResponse) => response.once('close', () => gone.resolve()),
  );
  return gone.promise;
};

describe.each(platforms())('a session on %s', platform => {
  let test: TestApp;
  let url: string;
  let tools: Tools;
  beforeEach(async () => {
    test = await startApp([Tools], { platform });
    url = await test.url();
    tools = test.app.get(Tools);
  });
  afterEach(() => test.close());

  const resume = (session: Record<string, string>, id?: string) =>
    EventReader.open(url, { ...session, ...(id !== undefined && { 'last-event-id': id }) });
  const change = (name: string) =>
    test.app.get(McpServerRegistry).add('tool', { name, inputSchema: { type: 'object' } }, () => name);

  it('answers a cut call on the resumed stream, each message once', async () => {
    const session = await openSession(url);
    const gone = hangUpOf(test);
    const first = await EventReader.open(url, session, call('work'));
    const progress = await first.message();
    expect(progress?.message).toMatchObject({ params: { progress: 1 } });
    first.cut();
    await gone;
    tools.release.resolve();
    const resumed = await resume(session, progress?.id);
    expect(await resumed.messages()).toEqual([
      expect.objectContaining({ params: { progress: 2, progressToken: 'p' } }),
      expect.objectContaining({ id: 7, result: { content: [{ type: 'text', text: 'done' }] } }),
    ]);
    // What was written, but lost on its way, comes again if the client asks for it.
    const again = await resume(session, progress?.id);
    expect(await again.messages()).toHaveLength(2);
  });

  it('goes on with a call on the resumed stream while it runs', async () => {
    const session = await openSession(url);
    const first = await EventReader.open(url, session, call('work'));
    const progress = await first.message();
    const second = await resume(session, progress?.id);
    expect(await first.next()).toBeUndefined();
    tools.release.resolve();
    expect(await second.messages()).toHaveLength(2);
  });

  it('cancels a cut call whose client has no event to come back with', async () => {
    const session = await openSession(url);
    const over = new AbortController();
    const answer = fetch(url, {
      method: 'POST',
      headers: session,
      body: JSON.stringify(call('silent')),
      signal: over.signal,
    });
    const { signal } = await tools.seen.promise;
    over.abort();
    await expect(answer).rejects.toThrow();
    if (!signal.aborted) await once(signal, 'abort');
    expect(signal.aborted).toBe(true);
  });

  it('sends what happens between streams on the next one, once', async () => {
    const session = await openSession(url);
    const gone = hangUpOf(test);
    const first = await resume(session);
    first.cut();
    await gone;
    await change('one');
    await change('two');
    const second = await resume(session);
    expect((await second.message())?.message).toMatchObject(LIST_CHANGED);
    expect((await second.message())?.message).toMatchObject(LIST_CHANGED);
    const third = await resume(session);
    await (await endSession(url, session)).text();
    expect([...(await second.messages()), ...(await third.messages())]).toEqual([]);
  });

  it('has several streams, and sends each message on one of them', async () => {
    const session = await openSession(url);
    const streams = [await resume(session), await resume(session)];
    expect(streams.map(({ status }) => status)).toEqual([200, 200]);
    await change('one');
    await change('two');
    const ended = endSession(url, session);
    const got = await Promise.all(streams.map(stream => stream.messages()));
    expect((await ended).status).toBe(200);
    expect(got.flat()).toEqual([
      expect.objectContaining(LIST_CHANGED),
      expect.objectContaining(LIST_CHANGED),
    ]);
  });

  it('gives nothing for an id of another session, or for none that it knows', async () => {
    const [session, other] = [await openSession(url), await openSession(url)];
    await change('one');
    const owner = await resume(other);
    const event = await owner.message();
    const mine = await resume(session);
    await mine.message();
    for (const id of [event?.id ?? '', 'l.99-1', 'x', 'l.1-999999', 'c.0-0', '-1-1', 'l12345678.1-0']) {
      const stranger = await resume(session, id);
      expect(stranger.status).toBe(200);
      stranger.cut();
    }
    owner.cut();
    mine.cut();
    const stolen = await EventReader.open(url, {
      ...other,
      'mcp-session-id': 'guessed',
      'last-event-id': event?.id ?? '',
    });
    expect(stolen.status).toBe(404);
    stolen.cut();
  });

  it.each([
    { version: LATEST, first: { id: expect.stringMatching(/^c\.\d+-0$/), data: '' } },
    {
      version: '2025-06-18',
      first: { id: expect.stringMatching(/^c\.\d+-1$/), data: expect.stringContaining('progress') },
    },
  ])('begins a stream of $version with what that revision knows', async ({ version, first }) => {
    const session = await openSession(url, { protocolVersion: version });
    tools.release.resolve();
    const stream = await EventReader.open(url, session, call('work'));
    expect(await stream.next()).toMatchObject(first);
    await stream.messages();
  });

  it('lets the official client come back for an answer', async () => {
    const client = new Client({ name: 'polling', version: '1' });
    await client.connect(new StreamableHTTPClientTransport(new URL(url)));
    expect(textOf(await client.callTool({ name: 'away', arguments: {} }))).toBe('back');
    await client.close();
  });
});

it('keeps events in the store of the options', async () => {
  const store = new MemoryEventStore();
  const test = await startApp([Tools], { mcp: { sessions: { eventStore: store } } });
  const url = await test.url();
  const session = await openSession(url);
  test.app.get(Tools).release.resolve();
  const stream = await EventReader.open(url, session, call('work'));
  await stream.messages();
  const kept = await store.after(session['mcp-session-id'], 'c.1', 0);
  expect(kept.map(({ sequence }) => sequence)).toEqual([1, 2, 3]);
  await (await endSession(url, session)).text();
  expect(store.length).toBe(0);
  await test.close();
});

it('keeps the events of a caller while another caller fills the store', async () => {
  const store = new MemoryEventStore({ maxTotalLength: 2000 });
  const test = await startApp([Tools], {
    mcp: { sessions: { eventStore: store } },
    module: { providers: [HEADER_GUARD] },
  });
  const url = await test.url();
  test.app.get(Tools).release.resolve();
  const session = await openSession(url, { headers: { 'x-user': 'jo' } });
  const first = await EventReader.open(url, session, call('work'));
  const progress = await first.message();
  await first.messages();
  const greedy = [];
  for (let index = 0; index < 20; index++)
    greedy.push(await openSession(url, { headers: { 'x-user': 'eve' } }));
  for (const own of greedy) await (await EventReader.open(url, own, call('work'))).messages();
  const resumed = await EventReader.open(url, { ...session, 'last-event-id': String(progress?.id) });
  expect(await resumed.messages()).toHaveLength(2);
  await test.close();
});
