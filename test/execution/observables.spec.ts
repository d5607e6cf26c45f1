import { Injectable, UseInterceptors, type CallHandler } from '@nestjs/common';
import { Prompt, Resource, Tool } from 'nestjs-mcp';
import { concat, EMPTY, from, map, Observable, of, throwError } from 'rxjs';
import { deferred, type Deferred } from '../fixtures/deferred.js';
import { post } from '../fixtures/post.js';
import { anyCell, startApp, textOf, type TestApp } from '../fixtures/matrix.js';

const upper = {
  intercept: (_context: unknown, next: CallHandler<string>) =>
    next.handle().pipe(map(value => value.toUpperCase())),
};

let subscribed: Deferred;
let unsubscribed: Deferred;

const endless = () =>
  new Observable<string>(subscriber => {
    subscribed.resolve();
    subscriber.add(() => unsubscribed.resolve());
  });

@Injectable()
class Tools {
  @Tool()
  value() {
    return 'value';
  }

  @Tool()
  async promise() {
    return 'promise';
  }

  @Tool()
  observable() {
    return of('observable');
  }

  @Tool()
  async promiseOfObservable() {
    return of('promise of an Observable');
  }

  @Tool()
  empty() {
    return EMPTY;
  }

  @Tool()
  steps() {
    return from(['one', { progress: 5, total: 10, message: 'five' }, 'done']);
  }

  @Tool()
  @UseInterceptors(upper)
  intercepted() {
    return from(['one', 'two', 'done']);
  }

  @Tool()
  @UseInterceptors(upper)
  async interceptedPromise() {
    return from(['one', 'done']);
  }

  @Tool()
  failing() {
    return concat(
      of('one', 'two'),
      throwError(() => new Error('secret')),
    );
  }

  @Tool()
  endless() {
    return endless();
  }

  @Tool()
  @UseInterceptors(upper)
  endlessIntercepted() {
    return endless();
  }

  @Tool()
  @UseInterceptors({ intercept: () => endless() })
  endlessInterceptor() {
    return 'never reached';
  }

  @Prompt()
  prompt() {
    return from(['draft', 'final']);
  }

  @Resource({ uri: 'config://app' })
  async resource() {
    return of({ debug: true });
  }
}

describe.each(anyCell())('what a handler returns, over $name,', ({ platform, era, legacy }) => {
  let test: TestApp;
  let client: Awaited<ReturnType<TestApp['client']>>;

  beforeAll(async () => {
    test = await startApp([Tools], { platform, mcp: { legacy }, forceCloseConnections: true });
    client = await test.client({ era });
  });
  afterAll(() => test.close());
  beforeEach(() => {
    subscribed = deferred();
    unsubscribed = deferred();
  });

  const call = async (name: string) => {
    const progress: unknown[] = [];
    const result = await client.callTool({ name }, { onprogress: report => progress.push(report) });
    return { result, progress };
  };

  it.each([
    ['value', 'value'],
    ['promise', 'promise'],
    ['observable', 'observable'],
    ['promiseOfObservable', 'promise of an Observable'],
    ['empty', ''],
  ])('%s: its last value is the result', async (name, text) => {
    const { result, progress } = await call(name);
    expect(textOf(result)).toBe(text);
    expect(progress).toEqual([]);
  });

  it('steps: the earlier emissions are progress', async () => {
    const { result, progress } = await call('steps');
    expect(progress).toEqual([
      { progress: 1, message: 'one' },
      { progress: 5, total: 10, message: 'five' },
    ]);
    expect(textOf(result)).toBe('done');
  });

  it('steps: without a progress token there is no progress, and no error', async () => {
    expect(textOf(await client.callTool({ name: 'steps' }))).toBe('done');
  });

  it.each([
    ['intercepted', ['ONE', 'TWO']],
    ['interceptedPromise', ['ONE']],
  ])('%s: interceptors see every emission', async (name, messages) => {
    const { result, progress } = await call(name);
    expect(progress.map(report => (report as { message: string }).message)).toEqual(messages);
    expect(textOf(result)).toBe('DONE');
  });

  it('failing: an error after some progress is the result', async () => {
    const { result, progress } = await call('failing');
    expect(progress).toEqual([{ progress: 1, message: 'one' }]);
    expect(result.isError).toBe(true);
    expect(textOf(result)).toMatch(/^Internal error/);
  });

  it('prompts and resources may return Observables as well', async () => {
    const { messages } = await client.getPrompt({ name: 'prompt' });
    expect(messages).toEqual([{ role: 'user', content: { type: 'text', text: 'final' } }]);
    const { contents } = await client.readResource({ uri: 'config://app' });
    expect(contents[0]).toMatchObject({ text: '{"debug":true}' });
  });

  it.each(['endless', 'endlessIntercepted', 'endlessInterceptor'])(
    '%s: ends when the client cancels, or hangs up',
    async name => {
      const params = { name, arguments: {} };
      if (legacy === 'stateless') {
        // Without a session there is nothing that a cancellation could refer to, but the connection.
        const request = post(await test.url(), { id: 1, method: 'tools/call', params });
        request.on('error', () => undefined);
        await subscribed.promise;
        request.destroy();
      } else {
        const aborter = new AbortController();
        const cancelled = client.callTool(params, { signal: aborter.signal });
        await subscribed.promise;
        aborter.abort();
        await expect(cancelled).rejects.toThrow();
      }
      await unsubscribed.promise;
    },
  );
});
