import { Injectable } from '@nestjs/common';
import type { Client } from '@modelcontextprotocol/client';
import { deny, Mutator, Sink, Tool, Validator, type InterceptorInvocation } from 'nestjs-mcp';
import { z } from 'zod';
import { anyCell, startApp, type TestApp } from '../fixtures/matrix.js';

@Injectable()
class Hosted {
  @Validator({
    name: 'guard',
    version: '1.2.0',
    description: 'Looks for evil',
    events: ['tools/call', 'custom/thing'],
    phase: 'both',
    failOpen: true,
    compat: { minProtocol: '2025-06-18' },
    configSchema: { type: 'object', properties: { word: { type: 'string' } }, required: ['word'] },
  })
  guard({ payload, config }: InterceptorInvocation) {
    return (
      !JSON.stringify(payload).includes(String(config?.['word'])) || deny('Found', { path: 'arguments' })
    );
  }

  @Mutator({ name: 'upper', events: ['tools/*'], priority: { request: -5 }, mode: 'enforce' })
  upper({ payload }: InterceptorInvocation<{ text: string }>) {
    return payload.text === 'same' ? undefined : { text: payload.text.toUpperCase() };
  }

  @Sink({ name: 'log', events: ['*'] })
  log() {
    return undefined;
  }

  @Validator({ name: 'crashes', events: ['a/b'] })
  crashes(): boolean {
    throw new Error('password=hunter2');
  }

  @Validator({ name: 'hangs', events: ['a/b'], timeoutMs: 20 })
  hangs() {
    return new Promise<boolean>(() => undefined);
  }

  @Tool()
  ping() {
    return 'pong';
  }
}

@Injectable()
class Overridden {
  @Validator({ name: 'narrowed', events: ['*'], phase: 'both', mode: 'audit', failOpen: true })
  narrowed() {
    return true;
  }

  @Mutator({ name: 'watched', events: ['tools/call'] })
  watched() {
    return undefined;
  }

  @Mutator({ name: 'moved', events: ['tools/call'], priority: { request: 5, response: 5 } })
  moved() {
    return undefined;
  }

  @Mutator({ name: 'unmoved', events: ['tools/call'], priority: 5 })
  unmoved() {
    return undefined;
  }
}

const anything = z.looseObject({});

describe.each(anyCell())('interceptors served to others over $name', ({ platform, era, legacy }) => {
  let test: TestApp;
  let client: Client;
  const list = (params: object = {}) =>
    client.request({ method: 'interceptors/list', params: { ...params } }, anything);
  const invoke = (params: { event: string; [key: string]: unknown }, method = 'interceptor/invoke') => {
    const payload = { text: 'a', ...(params.event === 'tools/call' && { name: 'shout' }) };
    return client.request({ method, params: { phase: 'request', payload, ...params } }, anything);
  };

  beforeAll(async () => {
    test = await startApp([Hosted], {
      platform,
      mcp: { legacy, pageSize: 2, interceptors: { apply: false, expose: true } },
    });
    client = await test.client({ era });
  });
  afterAll(() => test.close());

  it('are a capability', () => {
    expect(client.getServerCapabilities()?.extensions).toEqual({
      'io.modelcontextprotocol/interceptors': {
        supportedEvents: ['tools/call', 'custom/thing', 'tools/*', '*', 'a/b'],
      },
    });
  });

  it('are listed page by page, without what holds its default', async () => {
    const first = await list();
    expect(first['interceptors']).toEqual([
      {
        name: 'guard',
        version: '1.2.0',
        description: 'Looks for evil',
        type: 'validation',
        hooks: [
          { events: ['tools/call', 'custom/thing'], phase: 'request' },
          { events: ['tools/call', 'custom/thing'], phase: 'response' },
        ],
        failOpen: true,
        compat: { minProtocol: '2025-06-18' },
        configSchema: { type: 'object', properties: { word: { type: 'string' } }, required: ['word'] },
      },
      {
        name: 'upper',
        type: 'mutation',
        hooks: [{ events: ['tools/*'], phase: 'request' }],
        priorityHint: { request: -5 },
      },
    ]);
    const second = await list({ cursor: first['nextCursor'] });
    expect((second['interceptors'] as { name: string }[]).map(({ name }) => name)).toEqual([
      'log',
      'crashes',
    ]);
    await expect(list({ cursor: 'nonsense' })).rejects.toMatchObject({ code: -32602 });
  });

  it.each([
    ['tools/call', ['guard', 'upper']],
    ['custom/thing', ['guard', 'log']],
    ['nobody/hooks', ['log']],
  ])('are filtered by the event %s, patterns included', async (event, names) => {
    const { interceptors } = await list({ event });
    expect((interceptors as { name: string }[]).map(({ name }) => name)).toEqual(names);
  });

  it('answer with a result, a denial included', async () => {
    const config = { word: 'evil' };
    expect(await invoke({ name: 'guard', event: 'tools/call', config })).toMatchObject({
      interceptor: 'guard',
      type: 'validation',
      phase: 'request',
      valid: true,
      durationMs: expect.any(Number) as number,
    });
    expect(
      await invoke({ name: 'guard', event: 'tools/call', config, payload: { name: 'a', text: 'evil' } }),
    ).toMatchObject({
      valid: false,
      severity: 'error',
      messages: [{ path: 'arguments', message: 'Found', severity: 'error' }],
    });
    expect(await invoke({ name: 'upper', event: 'tools/list' })).toMatchObject({
      modified: true,
      payload: { text: 'A' },
    });
    expect(await invoke({ name: 'upper', event: 'tools/list', payload: { text: 'same' } })).toMatchObject({
      modified: false,
      payload: { text: 'same' },
    });
    expect(await invoke({ name: 'log', event: 'x/y' }, 'interceptors/invoke')).toMatchObject({
      type: 'sink',
      recorded: true,
    });
  });

  it.each([
    ['an unknown interceptor', { name: 'nope', event: 'tools/call' }],
    ['an event that it does not hook', { name: 'guard', event: 'tools/list', config: { word: 'a' } }],
    ['a phase that it does not hook', { name: 'upper', event: 'tools/list', phase: 'response' }],
    ['an unknown phase', { name: 'upper', event: 'tools/list', phase: 'both' }],
    ['no configuration where one is required', { name: 'guard', event: 'tools/call' }],
    ['a wrong configuration', { name: 'guard', event: 'tools/call', config: { word: 1 } }],
    ['a timeout that is none', { name: 'upper', event: 'tools/list', timeoutMs: -1 }],
    ['no payload', { name: 'upper', event: 'tools/list', payload: undefined }],
  ])('refuse %s with -32602 and a reason', async (_what, params) => {
    await expect(invoke(params)).rejects.toMatchObject({
      code: -32602,
      data: { interceptor: params.name, reason: expect.stringMatching(/\S/) as string },
    });
  });

  it('say of a failure only that it was one', async () => {
    const failed = await invoke({ name: 'crashes', event: 'a/b' }).catch((error: unknown) => error);
    expect(failed).toMatchObject({
      code: -32603,
      data: { interceptor: 'crashes', reason: 'the interceptor failed' },
    });
    expect(JSON.stringify(failed)).not.toContain('hunter2');
    await expect(invoke({ name: 'hangs', event: 'a/b' })).rejects.toMatchObject({
      code: -32000,
      data: { interceptor: 'hangs', timeoutMs: 20, phase: 'request' },
    });
    await expect(invoke({ name: 'hangs', event: 'a/b', timeoutMs: 5 })).rejects.toMatchObject({
      data: { timeoutMs: 5 },
    });
  });

  it('do not run around the server’s own traffic unless they are applied', async () => {
    expect((await client.callTool({ name: 'ping' })).isError).toBeUndefined();
  });
});

it('a server without interceptors does not know the methods', async () => {
  const test = await startApp([], { mcp: { interceptors: { expose: true }, capabilities: { tools: true } } });
  const client = await test.client({ era: 'legacy' });
  expect(client.getServerCapabilities()?.extensions).toEqual({
    'io.modelcontextprotocol/interceptors': { supportedEvents: [] },
  });
  await expect(client.request({ method: 'interceptors/list' }, anything)).rejects.toMatchObject({
    code: -32601,
  });
  await test.close();
});

it('are listed, and a capability, as the application’s overrides make them', async () => {
  const test = await startApp([Overridden], {
    mcp: {
      interceptors: {
        expose: true,
        overrides: {
          narrowed: {
            hooks: [{ events: ['tools/call'], phase: 'request' }],
            mode: 'active',
            failOpen: false,
          },
          watched: { mode: 'audit', failOpen: true, priority: 7 },
          moved: { priority: { response: -3 } },
          unmoved: { priority: 0 },
        },
      },
    },
  });
  const client = await test.client();
  const list = async (event?: string) => {
    const { interceptors } = await client.request(
      { method: 'interceptors/list', params: { event } },
      anything,
    );
    return interceptors as { name: string }[];
  };
  const hooks = [{ events: ['tools/call'], phase: 'request' }];
  expect(await list()).toEqual([
    { name: 'narrowed', type: 'validation', hooks },
    { name: 'watched', type: 'mutation', hooks, mode: 'audit', failOpen: true, priorityHint: 7 },
    { name: 'moved', type: 'mutation', hooks, priorityHint: { response: -3 } },
    { name: 'unmoved', type: 'mutation', hooks },
  ]);
  expect(await list('prompts/get')).toEqual([]);
  expect(client.getServerCapabilities()?.extensions).toEqual({
    'io.modelcontextprotocol/interceptors': { supportedEvents: ['tools/call'] },
  });
  await test.close();
});
