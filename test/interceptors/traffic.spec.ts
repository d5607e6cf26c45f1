import { Inject, Injectable, Scope } from '@nestjs/common';
import { REQUEST } from '@nestjs/core';
import {
  Args,
  Completion,
  deny,
  InterceptorChainRunner,
  Mutator,
  Prompt,
  Resource,
  ResourceTemplate,
  respondWith,
  Sink,
  SYNTHETIC_META,
  Tool,
  UriParams,
  Validator,
  WARNINGS_META,
  type CallToolParams,
  type ChainReport,
  type InterceptorInvocation,
} from 'nestjs-mcp';
import { SecretRedactor } from 'nestjs-mcp/interceptors';
import { z } from 'zod';
import { anyCell, startApp, textOf, type TestApp, type TestAppOptions } from '../fixtures/matrix.js';

@Injectable()
class Shop {
  readonly calls: unknown[] = [];

  @Tool({ inputSchema: z.object({ query: z.string().max(20) }) })
  search(@Args() args: object) {
    this.calls.push(args);
    return `found ${JSON.stringify(args)}`;
  }

  @Tool()
  secret() {
    this.calls.push('secret');
    return 'classified';
  }

  @Prompt()
  hello(@Args('name') name = 'you') {
    return `hello ${name}`;
  }

  @Completion({ prompt: 'hello', argument: 'name' })
  names() {
    this.calls.push('names');
    return ['jo'];
  }

  @Resource({ uri: 'shop://open' })
  open() {
    return 'open';
  }

  @Resource({ uri: 'shop://hidden' })
  hidden() {
    return 'hidden';
  }

  @ResourceTemplate({ uriTemplate: 'shop://items/{id}' })
  item(@UriParams('id') id: string) {
    return id;
  }

  @ResourceTemplate({ uriTemplate: 'shop://vault/{id}' })
  vault(@UriParams('id') id: string) {
    return id;
  }
}

@Injectable()
class Guardrails {
  readonly seen: string[] = [];

  @Validator({ events: ['tools/call'] })
  noForbidden({ payload }: InterceptorInvocation<CallToolParams>) {
    this.seen.push('noForbidden');
    return (
      !JSON.stringify(payload).includes('forbidden') ||
      deny('That word is not allowed', { path: 'arguments.query' })
    );
  }

  @Validator({ events: ['tools/call'] })
  crashes({ payload }: InterceptorInvocation<'tools/call', 'request'>) {
    if (payload.arguments?.['query'] === 'crash') throw new Error('password=hunter2');
    return true;
  }

  @Validator({ events: ['tools/call'], mode: 'audit' })
  watching({ payload }: InterceptorInvocation<CallToolParams>) {
    return payload.name !== 'search' || deny('Audited', { path: 'name' });
  }

  @Validator({ events: ['tools/call'] })
  nags({ payload }: InterceptorInvocation<CallToolParams>) {
    return payload.arguments?.['query'] === 'odd' ? deny('An odd query', { severity: 'warn' }) : true;
  }

  @Mutator({ events: ['tools/call'] })
  lengthen({ payload }: InterceptorInvocation<CallToolParams>) {
    const query = payload.arguments?.['query'];
    if (query === 'cached') return respondWith({ content: [{ type: 'text', text: 'from the cache' }] });
    if (query === 'long') return { ...payload, arguments: { query: 'x'.repeat(50) } };
    if (query === 'upper') return { ...payload, arguments: { query: 'UPPER' } };
    return undefined;
  }

  @Mutator({ name: 'redactor', events: ['tools/call', 'prompts/get', 'resources/read'], phase: 'response' })
  redact({ payload }: InterceptorInvocation) {
    return JSON.parse(JSON.stringify(payload).replaceAll('UPPER', '***')) as object;
  }

  @Mutator({ events: ['resources/list'], phase: 'response' })
  hideResources({ payload }: InterceptorInvocation<'resources/list', 'response'>) {
    return payload.resources
      ? { ...payload, resources: payload.resources.filter(({ uri }) => uri !== 'shop://hidden') }
      : {
          ...payload,
          resourceTemplates: payload.resourceTemplates.filter(({ name }) => name !== 'vault'),
        };
  }

  @Mutator({ name: 'hider', events: ['tools/list'], phase: 'response' })
  hide({ payload }: InterceptorInvocation<'tools/list', 'response'>) {
    return { ...payload, tools: payload.tools.filter(({ name }) => name !== 'secret') };
  }

  @Validator({ events: ['prompts/get', 'resources/subscribe', 'completion/complete'] })
  closed() {
    return deny('Closed');
  }

  @Sink({ events: ['*'], phase: 'both' })
  record({ event, phase, report }: InterceptorInvocation) {
    this.seen.push(`${event} ${phase} ${report?.status}`);
  }
}

@Injectable({ scope: Scope.REQUEST })
class PerRequest {
  constructor(@Inject(REQUEST) private readonly request: { headers?: Record<string, string> }) {}

  @Validator({ events: ['tools/call'] })
  notBanned() {
    return this.request.headers?.['x-banned'] !== 'yes';
  }
}

const start = (options: TestAppOptions) => startApp([Shop, Guardrails, PerRequest], options);

describe.each(anyCell())('interceptors over $name', ({ platform, era, legacy }) => {
  let test: TestApp;
  let client: Awaited<ReturnType<TestApp['client']>>;
  const search = (query: string) => client.callTool({ name: 'search', arguments: { query } });

  beforeAll(async () => {
    test = await start({ platform, mcp: { legacy, interceptors: { warnings: true } } });
    client = await test.client({ era });
  });
  afterAll(() => test.close());

  it('let through what nobody objects to', async () => {
    expect(textOf(await search('lamp'))).toBe('found {"query":"lamp"}');
  });

  it('refuse a call with the code and the data of the rules, and the connection lives on', async () => {
    await expect(search('forbidden')).rejects.toMatchObject({
      code: -32602,
      data: {
        validationErrors: [
          {
            interceptor: 'noForbidden',
            severity: 'error',
            message: 'That word is not allowed',
            path: 'arguments.query',
          },
        ],
      },
    });
    expect(test.app.get(Shop).calls).not.toContainEqual({ query: 'forbidden' });
    expect(textOf(await search('lamp'))).toContain('lamp');
  });

  it('fail closed, without a word of why', async () => {
    const refused = search('crash').catch((error: unknown) => error);
    expect(await refused).toMatchObject({
      code: -32602,
      data: { validationErrors: [{ interceptor: 'crashes', message: 'Interceptor execution failed' }] },
    });
    expect(JSON.stringify(await refused)).not.toContain('hunter2');
  });

  it('change what the handler gets, which is validated against its schema after that', async () => {
    expect(textOf(await search('upper'))).toBe('found {"query":"***"}');
    expect(test.app.get(Shop).calls).toContainEqual({ query: 'UPPER' });
    const result = await search('long');
    expect(result.isError).toBe(true);
    expect(textOf(result)).toMatch(/query/);
  });

  it('answer without the handler, and say so in _meta', async () => {
    const result = await search('cached');
    expect(textOf(result)).toBe('from the cache');
    expect(result._meta).toMatchObject({ [SYNTHETIC_META]: { interceptor: 'lengthen' } });
    expect(test.app.get(Shop).calls).not.toContainEqual({ query: 'cached' });
  });

  it('pass warnings on', async () => {
    const result = await search('odd');
    expect(result._meta).toMatchObject({
      [WARNINGS_META]: [{ interceptor: 'nags', severity: 'warn', message: 'An odd query' }],
    });
  });

  it('hide a tool and a resource, which then cannot be used', async () => {
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['search']);
    await expect(client.callTool({ name: 'secret' })).rejects.toMatchObject({
      code: -32602,
      message: expect.stringContaining('Unknown tool') as string,
    });
    expect(test.app.get(Shop).calls).not.toContain('secret');
    expect((await client.listResources()).resources.map(({ uri }) => uri)).toEqual(['shop://open']);
    await expect(client.readResource({ uri: 'shop://hidden' })).rejects.toThrow(/not found/i);
  });

  it('hide a template, whose resources then cannot be read, and leave the others alone', async () => {
    const { resourceTemplates } = await client.listResourceTemplates();
    expect(resourceTemplates.map(({ name }) => name)).toEqual(['item']);
    expect(await client.readResource({ uri: 'shop://items/1' })).toMatchObject({ contents: [{ text: '1' }] });
    await expect(client.readResource({ uri: 'shop://vault/1' })).rejects.toThrow(/not found/i);
  });

  it('see a call as a call alone, although the list is looked up for it', async () => {
    const { seen } = test.app.get(Guardrails);
    seen.length = 0;
    const runner = test.app.get(InterceptorChainRunner, { strict: false });
    const hidden = () => runner.counters()['hider']?.['mutated'] ?? 0;
    const before = hidden();
    await client.callTool({ name: 'search', arguments: { query: 'tea' } });
    expect(seen.filter(entry => entry.includes('tools/list'))).toEqual([]);
    expect(hidden()).toBe(before);
  });

  it('govern prompts, completions and subscriptions too', async () => {
    const closed = { code: -32602, data: { validationErrors: [{ interceptor: 'closed' }] } };
    await expect(client.getPrompt({ name: 'hello' })).rejects.toMatchObject(closed);
    const ref = { type: 'ref/prompt' as const, name: 'hello' };
    await expect(client.complete({ ref, argument: { name: 'name', value: 'j' } })).rejects.toMatchObject(
      closed,
    );
    expect(test.app.get(Shop).calls).not.toContain('names');
    if (era === 'modern')
      await expect(client.listen({ resourceSubscriptions: ['shop://open'] })).rejects.toThrow();
    else await expect(client.subscribeResource({ uri: 'shop://open' })).rejects.toThrow();
  });

  it('can be request-scoped', async () => {
    const banned = await test.client({ era, headers: { 'x-banned': 'yes' } });
    await expect(banned.callTool({ name: 'search', arguments: { query: 'a' } })).rejects.toMatchObject({
      data: { validationErrors: [{ interceptor: 'notBanned' }] },
    });
  });

  it('report what they did, sinks included', async () => {
    const reports: ChainReport[] = [];
    const runner = test.app.get(InterceptorChainRunner, { strict: false });
    const subscription = runner.reports$.subscribe(report => reports.push(report));
    await search('lamp');
    subscription.unsubscribe();
    const call = reports.find(({ result }) => result.event === 'tools/call' && result.phase === 'request');
    expect(call).toMatchObject({ server: 'test', direction: 'receive', result: { status: 'success' } });
    expect(call?.result.results).toContainEqual(
      expect.objectContaining({
        interceptor: 'watching',
        mode: 'audit',
        outcome: 'deny',
        messages: [{ path: 'name', message: 'Audited', severity: 'error' }],
      }),
    );
    expect(runner.counters()['watching']['audit-deny']).toBeGreaterThan(0);
    expect(test.app.get(Guardrails).seen).toContain('tools/call response success');
  });
});

it('turn from audit to active by one word', async () => {
  const test = await start({ mcp: { interceptors: { overrides: { watching: { mode: 'active' } } } } });
  const client = await test.client();
  await expect(client.callTool({ name: 'search', arguments: { query: 'a' } })).rejects.toMatchObject({
    data: { validationErrors: [{ interceptor: 'watching', message: 'Audited', path: 'name' }] },
  });
  await test.close();
});

it('refuse with a tool result where told to', async () => {
  const test = await start({ mcp: { interceptors: { denial: 'tool-error' } } });
  const client = await test.client();
  const result = await client.callTool({ name: 'search', arguments: { query: 'forbidden' } });
  expect(result.isError).toBe(true);
  expect(textOf(result)).toMatch(/arguments.query: That word is not allowed/);
  await expect(client.getPrompt({ name: 'hello' })).rejects.toMatchObject({ code: -32602 });
  await test.close();
});

it('do nothing where they are not to be applied', async () => {
  const test = await start({ mcp: { interceptors: { apply: false } } });
  const client = await test.client();
  expect(textOf(await client.callTool({ name: 'search', arguments: { query: 'forbidden' } }))).toContain(
    'forbidden',
  );
  await test.close();
});

it('decide without acting when simulated', async () => {
  const test = await start({});
  const runner = test.app.get(InterceptorChainRunner, { strict: false });
  const payload = { name: 'search', arguments: { query: 'upper' } };
  const result = await runner.simulate('tools/call', 'request', payload, { direction: 'receive' });
  expect(result.status).toBe('success');
  expect(result.results.find(({ interceptor }) => interceptor === 'lengthen')?.diff).toEqual([
    { op: 'replace', path: '/arguments/query', value: 'UPPER' },
  ]);
  expect(test.app.get(Shop).calls).toEqual([]);
  await test.close();
});

it('redact what another mutator brings into a result, by the priority that the README gives a redactor', async () => {
  const token = `ghp_${'a1B2c3D4e5F6'.repeat(3)}`;
  class Adds {
    @Mutator({ events: ['tools/call'], phase: 'response' })
    add({ payload }: InterceptorInvocation<'tools/call', 'response'>) {
      return { ...payload, content: [{ type: 'text', text: token }] };
    }
  }
  const redactor = SecretRedactor({ priority: { request: -1000, response: 1000 } });
  const test = await startApp([Shop, Adds, redactor], {});
  const client = await test.client();
  expect(textOf(await client.callTool({ name: 'secret' }))).toMatch(/^\[REDACTED:/);
  await test.close();
});
