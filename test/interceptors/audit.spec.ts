import { Injectable, type Type } from '@nestjs/common';
import {
  InterceptorChainRunner,
  Mutator,
  Sink,
  Tool,
  Validator,
  type ChainReport,
  type InterceptorInvocation,
} from 'nestjs-mcp';
import { deferred, type Deferred } from '../fixtures/deferred.js';
import { Inbox } from '../fixtures/inbox.js';
import { CELLS, startApp, textOf, type TestApp, type TestAppOptions } from '../fixtures/matrix.js';

@Injectable()
class Shop {
  @Tool()
  open() {
    return 'open';
  }
}

let verdict: Deferred<boolean>;
let given: Inbox<InterceptorInvocation>;

@Injectable()
class Audits {
  @Validator({ events: ['tools/call'], mode: 'audit', timeoutMs: 30_000 })
  slow(invocation: InterceptorInvocation) {
    given.put(invocation);
    return verdict.promise;
  }

  @Mutator({ events: ['tools/call'], phase: 'response', mode: 'audit', timeoutMs: 30_000 })
  async late() {
    await verdict.promise;
    return undefined;
  }
}

describe('audit interceptors', () => {
  const open: TestApp[] = [];
  const start = async (more: Type[] = [], options: TestAppOptions = {}) => {
    const test = await startApp([Shop, Audits, ...more], options);
    open.push(test);
    const reports = new Inbox<ChainReport>();
    test.app.get(InterceptorChainRunner).reports$.subscribe(reports.put);
    return { test, reports, runner: test.app.get(InterceptorChainRunner) };
  };
  beforeEach(() => {
    verdict = deferred();
    given = new Inbox();
  });
  afterEach(async () => {
    verdict.resolve(true);
    for (const test of open.splice(0)) await test.close();
  });

  it.each(CELLS.filter(({ platform }) => platform === 'express'))(
    'run beside the call, and report once they have ended ($name)',
    async ({ era, legacy }) => {
      const { test, reports, runner } = await start([], { mcp: { legacy } });
      const client = await test.client({ era });
      expect(textOf(await client.callTool({ name: 'open' }))).toBe('open');
      await client.listTools();
      expect(reports.size).toBe(0);
      expect(runner.counters()['slow']).toBeUndefined();
      verdict.resolve(false);
      const { result } = await reports.take();
      expect(result).toMatchObject({ phase: 'request', status: 'success', finalPayload: { name: 'open' } });
      expect(result.results).toMatchObject([{ interceptor: 'slow', mode: 'audit', outcome: 'deny' }]);
      expect((await reports.take()).result.results).toMatchObject([{ outcome: 'unmodified' }]);
      expect(runner.counters()).toMatchObject({ slow: { 'audit-deny': 1 }, late: { 'audit-unmodified': 1 } });
    },
  );

  it('are waited for by whoever asks the chain for its result', async () => {
    const { runner } = await start();
    for (const way of ['run', 'simulate'] as const) {
      verdict = deferred();
      const running = runner[way]('tools/call', 'request', { name: 'open' });
      await given.take();
      verdict.resolve(false);
      expect((await running).results).toMatchObject([{ interceptor: 'slow', outcome: 'deny' }]);
    }
  });

  it('are in what sinks are told', async () => {
    const told = new Inbox<unknown>();
    @Injectable()
    class Journal {
      @Sink({ events: ['tools/call'] })
      write({ report }: InterceptorInvocation) {
        told.put(report?.results.map(({ interceptor, outcome }) => `${interceptor} ${outcome}`));
      }
    }
    const { test } = await start([Journal]);
    await (await test.client()).callTool({ name: 'open' });
    verdict.resolve(false);
    expect(await told.take()).toEqual(['slow deny']);
  });

  it('are skipped, and counted, past a hundred at a time', async () => {
    const { test, runner } = await start();
    const client = await test.client();
    await Promise.all(Array.from({ length: 60 }, () => client.callTool({ name: 'open' })));
    expect(given.size).toBeLessThanOrEqual(100);
    const { slow, late } = runner.counters();
    expect((slow?.['skipped-busy'] ?? 0) + (late?.['skipped-busy'] ?? 0)).toBe(20);
    verdict.resolve(true);
    await new Promise(resolve => setImmediate(resolve));
    await client.callTool({ name: 'open' });
    expect(runner.counters()).toMatchObject({ slow: { 'skipped-busy': slow['skipped-busy'] } });
  });

  it('are given up, and reported, when the application shuts down', async () => {
    const { test, reports } = await start();
    await (await test.client()).callTool({ name: 'open' });
    const { signal } = await given.take();
    expect(signal.aborted).toBe(false);
    await test.close();
    expect(signal.aborted).toBe(true);
    expect((await reports.take()).result.results).toMatchObject([
      { interceptor: 'slow', outcome: 'timeout' },
    ]);
    open.length = 0;
  });
});
