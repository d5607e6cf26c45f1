import { Client, InMemoryTransport } from '@modelcontextprotocol/client';
import { Server } from '@modelcontextprotocol/server';
import { Injectable, Logger } from '@nestjs/common';
import {
  deny,
  McpErrorCode,
  McpException,
  Validator,
  type ChainReport,
  type InterceptorInvocation,
} from 'nestjs-mcp';
import {
  InterceptingMcpClient,
  type ClientBoundaryOptions,
  type InterceptableClient,
} from 'nestjs-mcp/client';
import { Chain } from '../../lib/interceptors/chain/chain.js';
import { textOf } from '../fixtures/matrix.js';
import { startApp } from '../fixtures/matrix.js';
import { Shop, startClients } from './fixtures.js';

type Entry = ConstructorParameters<typeof Chain>[0][number];

const entry = (
  type: 'validation' | 'mutation',
  event: string,
  phase: 'request' | 'response',
  invoke: Entry['invoke'],
): Entry => ({
  host: 'test',
  descriptor: { name: `${type}-${event}-${phase}`, type, hooks: [{ events: [event], phase }] },
  invoke,
});

const chainOf = (...entries: Entry[]): ClientBoundaryOptions['chain'] => {
  const chain = new Chain(entries);
  return { current: () => ({ chain }) };
};

const denial = { valid: false, messages: [{ message: 'No', severity: 'error' }] };

beforeAll(() => Logger.overrideLogger(false));

describe('InterceptingMcpClient', () => {
  let server: Server;
  let client: Client;

  beforeEach(async () => {
    server = new Server({ name: 'test', version: '1' }, { capabilities: { tools: {}, resources: {} } });
    const pages: Record<string, object> = {
      '': { tools: [{ name: 'a', inputSchema: { type: 'object' } }], nextCursor: '2' },
      '2': { tools: [{ name: 'b', inputSchema: { type: 'object' } }] },
    };
    server.setRequestHandler('tools/list', ({ params }) => pages[params?.cursor ?? ''] as { tools: [] });
    server.setRequestHandler('tools/call', ({ params }) => ({
      content: [{ type: 'text', text: JSON.stringify(params.arguments ?? null) }],
    }));
    client = new Client(
      { name: 'test', version: '1' },
      { capabilities: { elicitation: { form: {} }, sampling: {} } },
    );
    const [near, far] = InMemoryTransport.createLinkedPair();
    await Promise.all([client.connect(near), server.connect(far)]);
  });
  afterEach(() => client.close());

  it('needs no Nest', async () => {
    const reports: ChainReport[] = [];
    const upper = entry('mutation', 'tools/call', 'request', ({ payload }) => ({
      modified: true,
      payload: { ...(payload as object), arguments: { text: 'UPPER' } },
    }));
    const governed = new InterceptingMcpClient(client, {
      chain: chainOf(upper),
      onReport: report => reports.push(report),
    });
    expect(textOf(await governed.callTool({ name: 'a', arguments: { text: 'upper' } }))).toBe(
      '{"text":"UPPER"}',
    );
    expect(reports).toMatchObject([{ direction: 'send', result: { status: 'success' } }]);
  });

  it.each([
    ['all pages, and runs the chain once', undefined, ['a', 'b'], 1],
    ['one page', { cursor: '2' }, ['b'], 1],
  ])('lists %s', async (_what, params, names, runs) => {
    let ran = 0;
    const counting = entry('validation', 'tools/list', 'response', () => {
      ran++;
      return { valid: true };
    });
    const governed = new InterceptingMcpClient(client, { chain: chainOf(counting) });
    expect((await governed.listTools(params)).tools.map(({ name }) => name)).toEqual(names);
    expect(ran).toBe(runs);
  });

  it('asks for the chain anew for each message', async () => {
    const denies = new Chain([entry('validation', 'tools/call', 'request', () => denial)]);
    let chain = new Chain([]);
    const governed = new InterceptingMcpClient(client, { chain: { current: async () => ({ chain }) } });
    await governed.callTool({ name: 'a' });
    chain = denies;
    await expect(governed.callTool({ name: 'a' })).rejects.toMatchObject({ code: -32602 });
  });

  it('lets nothing pass where there is no telling which interceptors there are', async () => {
    const cause = new Error('the host is down');
    const governed = new InterceptingMcpClient(client, { chain: { current: () => Promise.reject(cause) } });
    await expect(governed.callTool({ name: 'a' })).rejects.toMatchObject({
      name: 'McpException',
      code: McpErrorCode.InternalError,
      cause,
    });
  });

  it('stops when the caller gives up while an interceptor runs', async () => {
    const controller = new AbortController();
    const called: unknown[] = [];
    server.setRequestHandler('tools/call', ({ params }) => {
      called.push(params);
      return { content: [] };
    });
    const hangs = entry('validation', 'tools/call', 'request', () => {
      controller.abort(new Error('enough'));
      return new Promise(() => undefined);
    });
    const governed = new InterceptingMcpClient(client, { chain: chainOf(hangs) });
    await expect(governed.callTool({ name: 'a' }, { signal: controller.signal })).rejects.toMatchObject({
      code: 'REQUEST_TIMEOUT',
      message: 'Error: enough',
    });
    expect(called).toEqual([]);
  });

  it('hands no input request out past the chain', async () => {
    const asked: unknown[] = [];
    const verbs = {
      callTool: async (_params: unknown, options: unknown) => (asked.push(options), { content: [] }),
    };
    const governed = new InterceptingMcpClient(verbs as unknown as InterceptableClient, { chain: chainOf() });
    await governed.callTool({ name: 'a' }, { allowInputRequired: true, context: {}, timeout: 5 } as object);
    expect(asked).toEqual([{ timeout: 5 }]);
    expect(() => governed.setRequestHandler('roots/list', () => ({ roots: [] }))).toThrow(
      'This client cannot answer roots/list',
    );
  });

  describe('tells a server that asks', () => {
    const ask = () =>
      server.elicitInput({ message: 'Who?', requestedSchema: { type: 'object', properties: {} } });

    it.each<[string, Entry[], () => unknown, object]>([
      ['the answer', [], () => ({ action: 'decline' }), { action: 'decline' }],
      [
        'what its question was refused with',
        [entry('validation', 'elicitation/create', 'request', () => denial)],
        () => ({ action: 'accept', content: {} }),
        { code: -32602, message: expect.stringContaining('Interceptor validation failed') },
      ],
      [
        'what the answer was refused with',
        [entry('validation', 'elicitation/create', 'response', () => denial)],
        () => ({ action: 'accept', content: {} }),
        {
          code: -32602,
          data: { validationErrors: [expect.objectContaining({ message: 'No', severity: 'error' })] },
        },
      ],
      [
        'what the handler threw for it',
        [],
        () => {
          throw new McpException(-32042, 'Not now', { later: true });
        },
        { code: -32042, message: expect.stringContaining('Not now'), data: { later: true } },
      ],
      [
        'nothing of what else the handler threw',
        [],
        () => {
          throw new Error('password=hunter2');
        },
        { code: -32603, message: expect.not.stringContaining('hunter2') },
      ],
    ])('%s', async (_what, entries, handler, told) => {
      const governed = new InterceptingMcpClient(client, { chain: chainOf(...entries) });
      governed.setRequestHandler('elicitation/create', handler as () => { action: 'decline' });
      expect(await ask().catch((error: unknown) => error)).toMatchObject(told);
    });

    it('an answer with tools, where it asked for one', async () => {
      const governed = new InterceptingMcpClient(client, { chain: chainOf() });
      governed.setRequestHandler('sampling/createMessage', ({ messages }) => ({
        role: 'assistant',
        model: 'test',
        content: messages[0].content,
      }));
      const content = { type: 'text', text: 'hi' } as const;
      expect(
        await server.createMessage({ messages: [{ role: 'user', content }], maxTokens: 5 }),
      ).toMatchObject({ content });
    });
  });
});

it('checks which revisions an interceptor is for, on the connection that there is', async () => {
  @Injectable()
  class Modern {
    @Validator({ events: ['tools/call'], compat: { minProtocol: '2026-07-28' } })
    onlyModern({ event }: InterceptorInvocation) {
      return deny(`no ${event}`);
    }
  }
  const server = await startApp([Shop], { forceCloseConnections: true });
  const url = await server.url();
  const clients = await startClients(
    [
      { name: 'modern', url, era: 'modern' },
      { name: 'legacy', url, era: 'legacy' },
    ],
    [Modern],
  );
  const call = { name: 'echo', arguments: { text: 'a' } };
  await expect(clients.client('modern').callTool(call)).rejects.toMatchObject({ code: -32602 });
  expect(textOf(await clients.client('legacy').callTool(call))).toBe('echo a');
  await clients.close();
  await server.close();
});
