import { Injectable } from '@nestjs/common';
import type { Client } from '@modelcontextprotocol/client';
import { Mutator, Validator, type InterceptorInvocation } from 'nestjs-mcp';
import { InterceptorChain } from './interceptor-chain.js';
import { z } from 'zod';
import { startApp, type TestApp } from '../../test/fixtures/matrix.js';

@Injectable()
class Hosted {
  @Validator({ name: 'check', events: ['*'], phase: 'both' })
  check() {
    return true;
  }

  @Mutator({ name: 'shout', events: ['*'], phase: 'both' })
  shout({ payload }: InterceptorInvocation) {
    const text = JSON.stringify(payload);
    return text.includes('quiet') ? (JSON.parse(text.replaceAll('quiet', 'LOUD')) as object) : undefined;
  }
}

let test: TestApp;
let client: Client;

beforeAll(async () => {
  test = await startApp([Hosted], { mcp: { interceptors: { apply: false, expose: true } } });
  client = await test.client({ era: 'modern' });
});
afterAll(() => test.close());

const invoke = (event: string, phase: string, payload: unknown, name = 'check') =>
  client.request(
    { method: 'interceptor/invoke', params: { name, event, phase, payload } },
    z.looseObject({}),
  );

const content = [{ type: 'text', text: 'quiet' }];

it.each([
  ['a number', 'tools/call', 'request', 5],
  [
    'the request instead of its params',
    'tools/call',
    'request',
    { method: 'tools/call', params: { name: 'a' } },
  ],
  ['a result without its content', 'tools/call', 'response', { structuredContent: {} }],
  ['no list', 'tools/list', 'response', { tools: 'none' }],
  ['no URI', 'resources/read', 'request', { uri: 5 }],
  ['a list for an object', 'roots/list', 'request', []],
  ['no list of either kind', 'resources/list', 'response', { tools: [] }],
])(
  'an exposed interceptor refuses a payload that it cannot read: %s',
  async (_what, event, phase, payload) => {
    await expect(invoke(event, phase, payload)).rejects.toMatchObject({
      code: -32602,
      data: { interceptor: 'check', reason: expect.stringContaining('"payload"') as string },
    });
  },
);

it.each([
  ['tools/call', 'request', { name: 'a', arguments: {} }],
  ['tools/call', 'response', { content }],
  ['tools/call', 'response', { resultType: 'input_required', inputRequests: {} }],
  ['tools/list', 'request', {}],
  ['resources/list', 'response', { resources: [] }],
  ['resources/list', 'response', { resourceTemplates: [] }],
  ['roots/list', 'request', {}],
  ['llm/completion', 'request', 5],
  ['orders/paid', 'response', null],
])('and reads those of %s in the %s phase: %j', async (event, phase, payload) => {
  await expect(invoke(event, phase, payload)).resolves.toMatchObject({ valid: true });
});

it('a mutator may change a list of templates, which the event of resources stands for', async () => {
  const resourceTemplates = [{ name: 'quiet', uriTemplate: 'a://{b}' }];
  await expect(invoke('resources/list', 'response', { resourceTemplates }, 'shout')).resolves.toMatchObject({
    payload: { resourceTemplates: [{ name: 'LOUD' }] },
  });
});

it('a host that is sent a part of the payload is not refused that part', async () => {
  const send = { payload: ['/arguments/query', '/content'] };
  const chain = await InterceptorChain.discover([{ name: 'privacy', client, send }]);
  const common = { event: 'tools/call', direction: 'send' as const };
  const request = { name: 'find', arguments: { query: 'quiet', other: 1 } };
  await expect(chain.execute({ ...common, phase: 'request', payload: request })).resolves.toMatchObject({
    status: 'success',
    finalPayload: { name: 'find', arguments: { query: 'LOUD', other: 1 } },
  });
  const structured = { structuredContent: {}, content };
  await expect(chain.execute({ ...common, phase: 'response', payload: structured })).resolves.toMatchObject({
    status: 'success',
    finalPayload: { structuredContent: {}, content: [{ type: 'text', text: 'LOUD' }] },
  });
  chain.close();
});
