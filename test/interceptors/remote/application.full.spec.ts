import { Injectable, Logger, type Type } from '@nestjs/common';
import {
  Args,
  deny,
  InterceptorChainRunner,
  Mutator,
  Tool,
  Validator,
  type ChainReport,
  type McpInterceptorOptions,
} from 'nestjs-mcp';
import type { Client } from '@modelcontextprotocol/client';
import { startApp, textOf, type TestApp } from '../../fixtures/matrix.js';
import { mutator, StubHost, validator } from './stub-host.js';

@Injectable()
class Shop {
  @Tool()
  search(@Args('query') query: string) {
    return `found ${query}`;
  }
}

@Injectable()
class OwnRules {
  @Mutator({ events: ['tools/call'], priority: 0 })
  middle({ payload }: { payload: object }) {
    return mark(payload, 'middle');
  }
}

const mark = (payload: object, by: string): object => {
  const { arguments: args = {}, ...rest } = payload as { arguments?: { query?: string } };
  return { ...rest, arguments: { ...args, query: `${args.query} ${by}` } };
};

const marks = (name: string, priorityHint: number) => ({
  ...mutator(name, { hooks: [{ events: ['tools/call'], phase: 'request' }], priorityHint }),
  answer: ({ payload }: { payload: unknown }) => ({ modified: true, payload: mark(payload as object, name) }),
});

const apps: TestApp[] = [];
const start = async (interceptors: McpInterceptorOptions, handlers: Type[] = [Shop]) => {
  const test = await startApp(handlers, { mcp: { interceptors } });
  apps.push(test);
  const client = await test.client();
  return { test, client, search: (query: string) => searchWith(client, query) };
};
const searchWith = (client: Client, query: string) =>
  client.callTool({ name: 'search', arguments: { query } });

afterEach(async () => {
  for (const test of apps.splice(0)) await test.close();
});

describe('the interceptors of other servers', () => {
  it('join the application’s own in one order, and the report says whose they are', async () => {
    const [one, two] = [
      new StubHost('one', [marks('late', 1000)]),
      new StubHost('two', [marks('early', -1000)]),
    ];
    const { test, search } = await start({ servers: [one.with(), two.with()] }, [Shop, OwnRules]);
    const reports: ChainReport[] = [];
    test.app
      .get(InterceptorChainRunner, { strict: false })
      .reports$.subscribe(report => reports.push(report));
    expect(textOf(await search('tea'))).toBe('found tea early middle late');
    expect(reports[0].result.results.map(({ host, interceptor }) => `${host}/${interceptor}`)).toEqual([
      'two/early',
      'local/middle',
      'one/late',
    ]);
  });

  it('cost one invocation a message each, and no list', async () => {
    const one = new StubHost('one', [
      marks('a', 0),
      validator('v', undefined, { hooks: [{ events: ['tools/call'], phase: 'request' }] }),
    ]);
    const { search } = await start({ servers: [one.with()] });
    for (let call = 0; call < 5; call++) await search('tea');
    expect([one.lists, one.invoked.length]).toEqual([1, 10]);
  });

  it('are listed again when their time is up', async () => {
    const one = new StubHost('one', [marks('a', 0)]);
    const { search } = await start({ servers: [one.with({ ttlMs: 0 })] });
    await search('tea');
    one.interceptors.push(marks('b', 1));
    expect(textOf(await search('tea'))).toBe('found tea a b');
    expect(one.lists).toBe(2);
  });

  it('are listed again when the host says that they have changed', async () => {
    const one = new StubHost('one', [marks('a', 0)]);
    const { search } = await start({ servers: [one.with()] });
    await search('tea');
    one.interceptors.push(marks('b', 1));
    expect(textOf(await search('tea'))).toBe('found tea a');
    one.change();
    expect(textOf(await search('tea'))).toBe('found tea a b');
  });

  it('are listed again when the host no longer knows one, and the message does not pass unchecked', async () => {
    const one = new StubHost('one', [marks('a', 0)]);
    const { search } = await start({ servers: [one.with()] });
    await search('tea');
    one.interceptors.splice(0, 1, marks('b', 0));
    await expect(search('tea')).rejects.toMatchObject({ code: -32603, data: { failedInterceptor: 'a' } });
    expect(textOf(await search('tea'))).toBe('found tea b');
  });

  it('let nothing pass while their host cannot be listed, and tell nobody why', async () => {
    const one = new StubHost('one', [marks('a', 0)]);
    one.onList = () => Promise.reject(new Error('password=hunter2'));
    const { search } = await start({ servers: [one.with()] });
    await expect(search('tea')).rejects.toMatchObject({
      code: -32603,
      message: expect.not.stringContaining('hunter2') as string,
      data: { reason: 'the interceptors could not be listed' },
    });
    one.onList = () => ({ interceptors: [marks('a', 0).descriptor] });
    expect(textOf(await search('tea'))).toBe('found tea a');
  });

  it('are listed once more where they change while they are listed', async () => {
    const one = new StubHost('one', [marks('a', 0)]);
    one.onList = () => {
      const listed = one.interceptors.map(({ descriptor }) => descriptor);
      if (one.lists === 1) {
        one.interceptors.push(marks('b', 1));
        one.change();
      }
      return { interceptors: listed };
    };
    const { search } = await start({ servers: [one.with()] });
    expect(textOf(await search('tea'))).toBe('found tea a b');
    expect(one.lists).toBe(2);
  });

  it('let nothing pass where they change faster than they can be listed', async () => {
    const one = new StubHost('one', [marks('a', 0)]);
    one.onList = () => {
      one.change();
      return { interceptors: [] };
    };
    const { search } = await start({ servers: [one.with()] });
    await expect(search('tea')).rejects.toMatchObject({ code: -32603 });
  });

  it('cannot fill the log, nor count as none', async () => {
    const one = new StubHost('one', []);
    const warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation();
    one.onList = () => ({ interceptors: Array.from({ length: 500 }, () => ({ name: 'x', type: 'new' })) });
    const { search } = await start({ servers: [one.with()] });
    expect(textOf(await search('tea'))).toBe('found tea');
    expect(warn.mock.calls.length).toBeLessThan(20);
    warn.mockRestore();
    one.onList = () => ({ interceptors: Array.from({ length: 1001 }, () => ({ name: 'x', type: 'new' })) });
    one.change();
    await expect(search('tea')).rejects.toMatchObject({ code: -32603 });
  });

  it('are asked for within the time that the chain has', async () => {
    const one = new StubHost('one', [marks('a', 0)]);
    one.onList = () => new Promise(() => undefined);
    const { search } = await start({ servers: [one.with({ discoveryTimeoutMs: 60_000 })], timeoutMs: 50 });
    await expect(search('tea')).rejects.toMatchObject({ code: -32603 });
  });

  it('are governed by overrides, by name and by host', async () => {
    const denies = () =>
      validator('v', () => ({ valid: false, messages: [{ message: 'No', severity: 'error' }] }));
    const [one, two] = [new StubHost('one', [denies()]), new StubHost('two', [denies()])];
    const { search } = await start({
      servers: [one.with(), two.with()],
      overrides: { 'one/v': { mode: 'audit' }, v: { failOpen: true } },
    });
    await expect(search('tea')).rejects.toMatchObject({
      code: -32602,
      data: { validationErrors: [{ interceptor: 'v', message: 'No' }] },
    });
  });

  it('are told who asks, and of the headers only those that are chosen', async () => {
    const one = new StubHost('one', [validator('v')]);
    const { test } = await start({ servers: [one.with({ send: { headers: ['X-Tenant'] } })] });
    const client = await test.client({ headers: { 'x-tenant': 'acme', authorization: 'Bearer secret' } });
    await searchWith(client, 'tea');
    expect(one.invoked[0]).toMatchObject({
      context: { principal: { type: 'anonymous' } },
      _meta: { 'nestjs-mcp/headers': { 'x-tenant': 'acme' } },
    });
    expect(JSON.stringify(one.invoked)).not.toContain('secret');
  });

  it.each([
    [
      [
        { name: 'a', url: 'http://127.0.0.1:1' },
        { name: 'a', command: 'x' },
      ],
      /two hosts named "a"/,
    ],
    [[{ name: 'local', url: 'http://127.0.0.1:1' }], /two hosts named "local"/],
    [[{ name: 'a' }], /needs one of "url", "command" and "transport"/],
    [[{ name: 'a', url: 'http://127.0.0.1:1', command: 'x' }], /needs one of/],
  ])('stop the bootstrap where they are named wrongly: %j', async (servers, reason) => {
    await expect(startApp([Shop], { mcp: { interceptors: { servers } } })).rejects.toThrow(reason);
  });
});

@Injectable()
class Host {
  @Validator({
    events: ['tools/call'],
    configSchema: { type: 'object', properties: { word: { type: 'string' } } },
  })
  noWord({ payload, config }: { payload: unknown; config?: Readonly<Record<string, unknown>> }) {
    const { word = 'forbidden' } = (config ?? {}) as { word?: string };
    return !JSON.stringify(payload).includes(word) || deny(`"${word}" is not allowed`);
  }
}

@Injectable()
class DeniesAll {
  @Validator({ events: ['tools/call'] })
  deniesAll() {
    return false;
  }
}

describe.each(['modern', 'legacy'] as const)('an application that asks another over HTTP, %s', era => {
  it('opens the connection at the first message, hands on its configuration, and closes it', async () => {
    const host = await startApp([Host], { mcp: { interceptors: { expose: true } } });
    apps.push(host);
    const { search } = await start({
      servers: [{ name: 'rules', url: await host.url('/mcp'), era }],
      config: { noWord: { word: 'tea' } },
    });
    await expect(search('green tea')).rejects.toMatchObject({
      code: -32602,
      data: { validationErrors: [{ interceptor: 'noWord', message: '"tea" is not allowed' }] },
    });
    expect(textOf(await search('forbidden'))).toBe('found forbidden');
  });

  it('goes on with another process in the same place', async () => {
    const first = await startApp([Host], { mcp: { interceptors: { expose: true } } });
    const url = await first.url('/mcp');
    const { search } = await start({ servers: [{ name: 'rules', url, era, reconnectDelayMs: 1 }] });
    expect(textOf(await search('tea'))).toBe('found tea');
    await first.close();
    await expect(search('tea')).rejects.toMatchObject({ code: -32602 });
    const second = await startApp([Host], { mcp: { interceptors: { expose: true } } });
    apps.push(second);
    await second.app.listen(Number(new URL(url).port), '127.0.0.1');
    let answer: string;
    do {
      answer = await search('tea').then(textOf, () => 'refused');
    } while (answer === 'refused');
    expect(answer).toBe('found tea');
    await expect(search('forbidden')).rejects.toMatchObject({ code: -32602 });
  });
});

// Over 2026-07-28 nothing tells that it is another process, until what is known is too old.
it('a host over HTTP with a session is listed again after another process took its place', async () => {
  const first = await startApp([Host], { mcp: { interceptors: { expose: true } } });
  const url = await first.url('/mcp');
  const { search } = await start({ servers: [{ name: 'rules', url, era: 'legacy', reconnectDelayMs: 1 }] });
  expect(textOf(await search('tea'))).toBe('found tea');
  await first.close();
  const second = await startApp([Host, DeniesAll], { mcp: { interceptors: { expose: true } } });
  apps.push(second);
  await second.app.listen(Number(new URL(url).port), '127.0.0.1');
  const answers: string[] = [];
  do answers.push(await search('tea').then(textOf, ({ data }: { data: unknown }) => JSON.stringify(data)));
  while (!answers.at(-1)!.includes('deniesAll'));
  expect(answers).not.toContain('found tea');
});
