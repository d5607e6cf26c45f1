import { Injectable, type Type } from '@nestjs/common';
import {
  Args,
  Ctx,
  deny,
  InterceptorChainRunner,
  McpContext,
  Mutator,
  respondWith,
  Sink,
  Tool,
  Validator,
  type InterceptorInvocation,
  type McpInterceptorOptions,
} from 'nestjs-mcp';
import { SecretRedactor } from 'nestjs-mcp/interceptors';
import { of } from 'rxjs';
import { deferred } from '../fixtures/deferred.js';
import { LogSpy } from '../fixtures/log-spy.js';
import { startApp, textOf, type TestApp } from '../fixtures/matrix.js';
import { StubHost } from './remote/stub-host.js';

const KEY = 'AKIAIOSFODNN7EXAMPLE';

@Injectable()
class Work {
  /** Tells as many things as it is given texts, without waiting for any of it. */
  @Tool({ inputSchema: { type: 'object' } })
  tell(
    @Args() { progress = [], logs = [] }: { progress?: string[]; logs?: string[] },
    @Ctx() ctx: McpContext,
  ) {
    progress.forEach((message, index) => void ctx.reportProgress(index + 1, undefined, message));
    for (const text of logs) void ctx.log.info({ text });
    return 'told';
  }

  @Tool()
  emissions() {
    return of({ step: KEY }, 'last');
  }

  @Tool()
  changing(@Ctx() ctx: McpContext) {
    const data = { text: 'as it was' };
    void ctx.log.info(data);
    data.text = 'changed';
    return 'told';
  }

  @Tool()
  async debugs(@Ctx() ctx: McpContext) {
    await ctx.log.debug('for nobody');
    return 'told';
  }
}

interface Told {
  readonly answer: string;
  /** Progress and log messages, in the order in which they came. */
  readonly seen: unknown[];
}

const META = { 'io.modelcontextprotocol/logLevel': 'info' };

async function call(
  test: TestApp,
  name: string,
  args: Record<string, unknown> = {},
  era: 'modern' | 'legacy' = 'modern',
): Promise<Told> {
  const client = await test.client({ era });
  const seen: unknown[] = [];
  client.setNotificationHandler('notifications/message', ({ params }) => void seen.push(params.data));
  const _meta = era === 'modern' ? META : {};
  const answer = await client.callTool(
    { name, arguments: args, _meta },
    { onprogress: ({ message }) => void seen.push(message) },
  );
  return { answer: textOf(answer), seen };
}

describe('progress and log messages', () => {
  const open: TestApp[] = [];
  const log = new LogSpy();
  const start = async (interceptors: Type[], options: McpInterceptorOptions = {}) => {
    const test = await startApp([Work, ...interceptors], {
      mcp: { interceptors: options },
      configure: app => app.useLogger(log),
    });
    open.push(test);
    return test;
  };
  beforeEach(() => {
    log.errors.length = 0;
  });
  afterEach(async () => {
    for (const test of open.splice(0)) await test.close();
  });

  it('pass the ready-made redactor by default, whichever way they are sent', async () => {
    const test = await start([SecretRedactor()]);
    const told = await call(test, 'tell', { progress: [`with ${KEY}`], logs: [`has ${KEY}`] });
    expect(told.seen).toHaveLength(2);
    expect(JSON.stringify(told.seen)).toContain('[REDACTED:');
    expect(JSON.stringify(told.seen)).not.toContain(KEY);
    const { seen } = await call(test, 'emissions');
    expect(seen).toHaveLength(1);
    expect(seen[0]).toContain('[REDACTED:');
  });

  it('are payloads of events of their own, which are sent in the request phase', async () => {
    const seen: unknown[] = [];
    @Injectable()
    class Looks {
      @Sink({ events: ['notifications/progress', 'notifications/message'], phase: 'both' })
      look({ event, phase, direction, payload }: InterceptorInvocation) {
        const { progressToken: token, ...told } = payload as Record<string, unknown>;
        const hasToken = event === 'notifications/progress' ? token !== undefined : undefined;
        seen.push({ event, phase, direction, told, hasToken });
      }
    }
    await call(await start([Looks]), 'tell', { progress: ['half'], logs: ['done'] });
    expect(seen).toEqual([
      {
        event: 'notifications/progress',
        phase: 'request',
        direction: 'send',
        told: { progress: 1, message: 'half' },
        hasToken: true,
      },
      {
        event: 'notifications/message',
        phase: 'request',
        direction: 'send',
        told: { level: 'info', data: { text: 'done' } },
      },
    ]);
  });

  it('are dropped where an interceptor refuses them, and the call goes on', async () => {
    @Injectable()
    class Refuses {
      @Validator({ events: ['*'] })
      polite({ payload }: InterceptorInvocation) {
        const isCall = 'arguments' in (payload as object);
        return isCall || !JSON.stringify(payload).includes('rude') || deny('Be polite');
      }
    }
    const told = await call(await start([Refuses]), 'tell', {
      progress: ['a', 'rude', 'c'],
      logs: ['rude', 'e'],
    });
    expect(told).toEqual({ answer: 'told', seen: ['a', 'c', { text: 'e' }] });
  });

  it.each(['modern', 'legacy'] as const)('keep their order, and come before the result (%s)', async era => {
    const [asked, first] = [deferred(), deferred()];
    let times = 0;
    @Injectable()
    class Slow {
      @Mutator({ events: ['notifications/*'] })
      async first({ payload }: InterceptorInvocation<{ message?: string; data?: unknown }>) {
        asked.resolve();
        if (times++ === 0) await first.promise;
        const { message, data } = payload;
        return message === undefined ? { ...payload, data: [data] } : { ...payload, message: `${message}!` };
      }
    }
    const test = await start([Slow]);
    const calling = call(test, 'tell', { progress: ['1', '2', '3'], logs: ['4'] }, era);
    await Promise.race([asked.promise, calling]);
    // The handler has returned before the first message may go.
    setImmediate(() => first.resolve());
    expect((await calling).seen).toEqual(['1!', '2!', '3!', [{ text: '4' }]]);
  });

  it('are sent as they were when they were checked', async () => {
    const [asked, changed] = [deferred<unknown>(), deferred()];
    @Injectable()
    class Slow {
      @Validator({ events: ['notifications/message'] })
      async look({ payload }: InterceptorInvocation<{ data: unknown }>) {
        asked.resolve(payload.data);
        await changed.promise;
        return true;
      }
    }
    const calling = call(await start([Slow]), 'changing');
    expect(await Promise.race([asked.promise, calling])).toEqual({ text: 'as it was' });
    changed.resolve();
    expect((await calling).seen).toEqual([{ text: 'as it was' }]);
  });

  it('cannot be answered, nor made another call’s', async () => {
    @Injectable()
    class Answers {
      @Mutator({ events: ['*'] })
      answer({ event, payload }: InterceptorInvocation) {
        if (event === 'notifications/message') return respondWith({ content: [] });
        return event === 'notifications/progress'
          ? { ...(payload as object), progressToken: 'x' }
          : undefined;
      }
    }
    const told = await call(await start([Answers]), 'tell', { progress: ['a'], logs: ['b'] });
    expect(told).toEqual({ answer: 'told', seen: [] });
    expect(log.errors.join('\n')).toContain('/progressToken');
    expect(log.errors.join('\n')).toContain('respondWith');
  });

  it('are dropped where an interceptor fails, which floods no log', async () => {
    @Injectable()
    class Crashes {
      @Validator({ events: ['notifications/progress'] })
      crash(): boolean {
        throw new Error('no scanner');
      }
    }
    const test = await start([Crashes]);
    const progress = Array.from({ length: 200 }, (_, index) => `step ${index}`);
    expect(await call(test, 'tell', { progress })).toEqual({ answer: 'told', seen: [] });
    const said = log.errors.filter(line => line.includes('no scanner'));
    expect(said).toHaveLength(1);
    expect(said[0]).toContain('the message was dropped');
    expect(test.app.get(InterceptorChainRunner).counters()['crash']).toEqual({ crash: 200 });
  });

  it('hold the result up for no longer than the chain may take for one message', async () => {
    @Injectable()
    class Hangs {
      @Validator({ events: ['notifications/progress'], timeoutMs: 30_000 })
      hang() {
        return new Promise<boolean>(() => undefined);
      }
    }
    const test = await start([Hangs], { timeoutMs: 50 });
    const progress = Array.from({ length: 1000 }, (_, index) => `step ${index}`);
    expect(await call(test, 'tell', { progress })).toEqual({ answer: 'told', seen: [] });
  });

  it('reach no interceptor where the client does not want them', async () => {
    let runs = 0;
    @Injectable()
    class Counts {
      @Validator({ events: ['notifications/*'] })
      count() {
        runs++;
        return true;
      }
    }
    const test = await start([Counts]);
    await call(test, 'debugs');
    const legacy = await test.client({ era: 'legacy' });
    await legacy.setLoggingLevel('info');
    await legacy.callTool({ name: 'debugs' });
    expect(runs).toBe(0);
    await legacy.setLoggingLevel('debug');
    await legacy.callTool({ name: 'debugs' });
    expect(runs).toBe(1);
  });

  it('go to another host only if its interceptor names the event', async () => {
    const hooking = (name: string, events: string[]) => ({
      descriptor: { name, type: 'validation', hooks: [{ events, phase: 'request' }] },
      answer: () => ({ valid: true }),
    });
    const host = new StubHost('far', [hooking('all', ['*']), hooking('named', ['notifications/progress'])]);
    const test = await start([], { servers: [host.with()] });
    const told = await call(test, 'tell', { progress: ['a'], logs: ['b'] });
    expect(told.seen).toEqual(['a', { text: 'b' }]);
    expect(host.invoked.map(({ name, event }) => `${name} ${event}`)).toEqual([
      'all tools/call',
      'named notifications/progress',
    ]);
  });
});
