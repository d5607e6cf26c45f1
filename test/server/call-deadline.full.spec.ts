import { Injectable } from '@nestjs/common';
import { Ctx, McpContext, Tool } from 'nestjs-mcp';
import { deferred } from '../fixtures/deferred.js';
import { Inbox } from '../fixtures/inbox.js';
import { LogSpy } from '../fixtures/log-spy.js';
import { cells, startApp, textOf, type TestApp } from '../fixtures/matrix.js';
import { outcomeOf } from '../gateway/support.js';

/** Steps of the calls under way. */
let steps: Inbox<string>;
let next = deferred();

@Injectable()
class Tools {
  @Tool()
  async held(@Ctx() { signal }: McpContext) {
    signal.addEventListener('abort', () => steps.put('aborted'));
    steps.put('begun');
    await next.promise;
    return 'at last';
  }

  /** Whether or not the client asked for progress. */
  @Tool()
  async busy(@Ctx() ctx: McpContext) {
    steps.put('begun');
    await next.promise;
    await ctx.reportProgress(1, 2);
    next = deferred();
    steps.put('reported');
    await next.promise;
    return 'at last';
  }

  @Tool()
  async ask(@Ctx() ctx: McpContext) {
    return (await ctx.elicit('go', { message: 'Go?', schema: { type: 'object', properties: {} } })).action;
  }

  @Tool()
  touch(@Ctx() ctx: McpContext) {
    ctx.sendToolListChanged();
  }
}

/** Past the default of `calls.timeoutMs`, or shortly before it, in milliseconds. */
const TOO_LONG = 64_000;
const LONG = 59_000;

const REAL = [
  'Date',
  'hrtime',
  'nextTick',
  'performance',
  'queueMicrotask',
  'setImmediate',
  'clearImmediate',
  'setTimeout',
  'clearTimeout',
] as const;

describe.each(cells())('a call over $name', ({ platform, era, legacy }) => {
  let test: TestApp;
  const hasSession = era === 'legacy' && legacy === 'sessions';

  beforeEach(async () => {
    steps = new Inbox();
    next = deferred();
    jest.useFakeTimers({ doNotFake: [...REAL] });
  });
  afterEach(async () => {
    jest.useRealTimers();
    next.resolve();
    await test.close();
  });
  const start = async (calls: object = {}) => {
    test = await startApp([Tools], { platform, mcp: { legacy, calls } });
    return test.client({ era });
  };

  it('is answered with an error when it has run for too long', async () => {
    const client = await start();
    const log = new LogSpy();
    test.app.useLogger(log);
    const call = outcomeOf(client.callTool({ name: 'held' }));
    expect(await steps.take()).toBe('begun');
    jest.advanceTimersByTime(TOO_LONG);
    expect(await call).toMatchObject({
      code: -32000,
      message: expect.stringContaining('did not finish within 60000 ms'),
    });
    expect(await steps.take()).toBe('aborted');
    expect(log.warnings).toEqual([expect.stringContaining('"calls.timeoutMs"')]);
  });

  it('counts in the limits until its handler has ended', async () => {
    const client = await start({ maxPerCaller: 1 });
    const call = outcomeOf(client.callTool({ name: 'held' }));
    await steps.take();
    jest.advanceTimersByTime(TOO_LONG);
    await call;
    await expect(client.callTool({ name: 'touch' })).rejects.toThrow();
    next.resolve();
    await client.callTool({ name: 'touch' });
  });

  it('gives its place to others when its handler has gone on for as long again', async () => {
    const client = await start();
    const log = new LogSpy();
    test.app.useLogger(log);
    const calls = Array.from({ length: 300 }, () => outcomeOf(client.callTool({ name: 'held' })));
    // The default of `calls.maxPerCaller`.
    for (let begun = 0; begun < 256; begun++) await steps.take();
    jest.advanceTimersByTime(TOO_LONG);
    await Promise.all(calls);
    jest.advanceTimersByTime(LONG);
    await expect(client.callTool({ name: 'touch' })).rejects.toThrow('Too many calls');
    jest.advanceTimersByTime(TOO_LONG - LONG);
    await client.callTool({ name: 'touch' });
    expect(log.warnings).toEqual([
      expect.stringContaining('256 of Tools.held'),
      expect.stringMatching(/^Handlers still run .*: 256 of Tools\.held.*"calls\.maxHanging"/),
    ]);
  });

  it('is refused where too many handlers never end', async () => {
    const client = await start({ maxHanging: 1 });
    const call = outcomeOf(client.callTool({ name: 'held' }));
    await steps.take();
    jest.advanceTimersByTime(TOO_LONG);
    await call;
    jest.advanceTimersByTime(TOO_LONG);
    await expect(client.callTool({ name: 'touch' })).rejects.toThrow('calls that do not end');
    next.resolve();
    await client.callTool({ name: 'touch' });
  });

  it('may take longer if it makes progress', async () => {
    const client = await start();
    const call = client.callTool({ name: 'busy' });
    await steps.take();
    jest.advanceTimersByTime(LONG);
    next.resolve();
    expect(await steps.take()).toBe('reported');
    jest.advanceTimersByTime(LONG);
    next.resolve();
    expect(textOf(await call)).toBe('at last');
  });

  it('may take any time if none is set', async () => {
    const client = await start({ timeoutMs: 0 });
    const call = client.callTool({ name: 'held' });
    await steps.take();
    jest.advanceTimersByTime(100 * TOO_LONG);
    next.resolve();
    expect(textOf(await call)).toBe('at last');
  });

  it('may take as long as its client takes to answer', async () => {
    await start();
    const client = await test.client({
      era,
      onElicit: async () => {
        steps.put('asked');
        await next.promise;
        return { action: 'decline' };
      },
    });
    const call = client.callTool({ name: 'ask' });
    if (era === 'legacy' && !hasSession) return expect((await call).isError).toBe(true);
    await steps.take();
    jest.advanceTimersByTime(10 * TOO_LONG);
    next.resolve();
    return expect(textOf(await call)).toBe('decline');
  });

  it('is no stream: those have all the time', async () => {
    const client = await start();
    let isTold = false;
    client.setNotificationHandler('notifications/tools/list_changed', () => void (isTold = true));
    if (era === 'modern') await client.listen({ toolsListChanged: true });
    else if (!hasSession) return;
    // A session's stream may open at any time.
    while (!isTold) await client.callTool({ name: 'touch' });
    isTold = false;
    jest.advanceTimersByTime(10 * TOO_LONG);
    while (!isTold) await client.callTool({ name: 'touch' });
  });
});
