import { Injectable } from '@nestjs/common';
import {
  InterceptorChainRunner,
  Mutator,
  Tool,
  Validator,
  type InterceptorInvocation,
  type McpInterceptorOptions,
} from 'nestjs-mcp';
import { z } from 'zod';
import { startApp, textOf, type TestApp } from '../fixtures/matrix.js';

const anything = z.looseObject({});

@Injectable()
class Shop {
  @Tool()
  open() {
    return 'open';
  }
}

@Injectable()
class Rules {
  readonly asked: string[] = [];

  @Validator({
    events: ['tools/call', 'custom/event'],
    configSchema: { type: 'object', properties: { word: { type: 'string' } }, required: ['word'] },
  })
  noWord({ payload, config, direction }: InterceptorInvocation) {
    this.asked.push(`validator ${direction}`);
    return !JSON.stringify(payload).includes(String(config!['word']));
  }

  @Mutator({ events: ['tools/call', 'custom/event'] })
  ask({ direction }: InterceptorInvocation) {
    this.asked.push(`mutator ${direction}`);
    return undefined;
  }

  @Mutator({ events: ['custom/vandal'] })
  vandal({ payload }: InterceptorInvocation<{ kept?: boolean }>) {
    (payload as { kept: boolean }).kept = false;
    return undefined;
  }

  @Mutator({ events: ['custom/scope'], scope: { allow: ['/a'] } })
  beyond({ payload }: InterceptorInvocation<object>) {
    return { ...payload, b: 1 };
  }

  @Validator({ events: ['custom/future'], compat: { minProtocol: '2030-01-01' } })
  future() {
    return true;
  }

  @Validator({ events: ['custom/slow'], timeoutMs: 20 })
  slow() {
    return new Promise<boolean>(() => undefined);
  }
}

const interceptors: McpInterceptorOptions = { expose: true, config: { noWord: { word: 'evil' } } };
let test: TestApp;
beforeAll(async () => {
  test = await startApp([Shop, Rules], { mcp: { interceptors } });
});
afterAll(() => test.close());

describe('a run of the application’s own', () => {
  const runner = () => test.app.get(InterceptorChainRunner, { strict: false });
  const rules = () => test.app.get(Rules);
  const call = { name: 'open' };

  it('has the configuration that the server’s traffic has', async () => {
    const client = await test.client();
    expect(textOf(await client.callTool(call))).toBe('open');
    expect((await runner().run('tools/call', 'request', call)).status).toBe('success');
    expect(
      (await runner().simulate('tools/call', 'request', { ...call, arguments: { a: 'evil' } })).status,
    ).toBe('validation_failed');
    const own = await runner().run('tools/call', 'request', call, { config: { noWord: { word: 'open' } } });
    expect(own.status).toBe('validation_failed');
  });

  it.each(['both', undefined])('has a phase, which is not %s', async phase => {
    await expect(runner().run('tools/call', phase as never, call)).rejects.toThrow(
      /The phase is "request" or/,
    );
  });

  it.each([
    ['tools/call', 'request', 'receive', ['validator receive', 'mutator receive']],
    ['custom/event', 'request', 'send', ['mutator send', 'validator send']],
  ] as const)('of %s has the order of its direction', async (event, phase, direction, order) => {
    rules().asked.length = 0;
    await runner().run(event, phase, call);
    expect(rules().asked).toEqual(order);
    rules().asked.length = 0;
    await runner().run(event, phase, call, { direction: direction === 'send' ? 'receive' : 'send' });
    expect(rules().asked).not.toEqual(order);
  });
});

describe('an interceptor that another party invokes', () => {
  const invoke = async (params: Record<string, unknown>) => {
    const client = await test.client();
    return client.request(
      { method: 'interceptor/invoke', params: { phase: 'request', payload: {}, ...params } },
      anything,
    );
  };

  it('has the server’s configuration, unless it is given another', async () => {
    const event = 'tools/call';
    expect(await invoke({ name: 'noWord', event, payload: { name: 'evil' } })).toMatchObject({
      valid: false,
    });
    const config = { word: 'good' };
    expect(await invoke({ name: 'noWord', event, config, payload: { name: 'evil' } })).toMatchObject({
      valid: true,
    });
  });

  it.each([
    ['changes what it is given', { name: 'vandal', event: 'custom/vandal' }, -32603],
    ['goes beyond its scope', { name: 'beyond', event: 'custom/scope' }, -32603],
    ['does not understand the revision', { name: 'future', event: 'custom/future' }, -32602],
    ['takes longer than its author lets it', { name: 'slow', event: 'custom/slow', timeoutMs: 5000 }, -32000],
    ['is given a context that is none', { name: 'noWord', event: 'tools/call', context: 'me' }, -32602],
  ])('is refused where it %s', async (_what, params, code) => {
    await expect(invoke(params)).rejects.toMatchObject({ code });
  });
});

it('a caller that refers to itself is no reason to refuse', async () => {
  interface Person {
    name: string;
    self?: Person;
  }
  const user: Person = { name: 'ada' };
  user.self = user;
  const own = await startApp([Shop, Rules], {
    mcp: { interceptors },
    configure: app =>
      app.use((request: { user?: Person }, _response: unknown, next: () => void) => {
        request.user = user;
        next();
      }),
  });
  const client = await own.client();
  expect(textOf(await client.callTool({ name: 'open' }))).toBe('open');
  await own.close();
});
