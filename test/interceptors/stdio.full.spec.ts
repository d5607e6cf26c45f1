import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { z } from 'zod';
import { textOf } from '../fixtures/matrix.js';

const fixtures = join(__dirname, '../fixtures');
const anything = z.looseObject({});

describe.each(['modern', 'legacy'] as const)('interceptors over stdio, %s', era => {
  let client: Client;
  let pid: number | null;
  const invoke = (params: Record<string, unknown>) =>
    client.request({ method: 'interceptor/invoke', params }, anything);
  const echo = (text: string) => client.callTool({ name: 'echo', arguments: { text } });
  const subscribe = (uri: string): Promise<unknown> =>
    era === 'modern' ? client.listen({ resourceSubscriptions: [uri] }) : client.subscribeResource({ uri });

  beforeAll(async () => {
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: ['-r', join(fixtures, 'ts-hook.cjs'), join(fixtures, 'stdio-guarded-app.ts')],
      stderr: 'ignore',
      env: { PATH: process.env['PATH'] ?? '' },
    });
    client = new Client(
      { name: 'test', version: '1' },
      { versionNegotiation: { mode: era === 'modern' ? { pin: '2026-07-28' } : 'legacy' } },
    );
    await client.connect(transport);
    ({ pid } = transport);
  });
  afterAll(() => client.close());
  // Whatever a test was refused, the same process still answers on the same connection.
  afterEach(async () => {
    expect(textOf(await echo('fine'))).toBe(`${pid}: FINE`);
  });

  it('are a capability', () => {
    expect(client.getServerCapabilities()?.extensions?.['io.modelcontextprotocol/interceptors']).toEqual({
      supportedEvents: ['tools/call', 'resources/subscribe', 'custom/event'],
    });
  });

  it('are listed', async () => {
    const { interceptors } = await client.request({ method: 'interceptors/list', params: {} }, anything);
    expect(interceptors).toEqual([
      { name: 'noEvil', type: 'validation', hooks: [{ events: ['tools/call'], phase: 'request' }] },
      { name: 'upper', type: 'mutation', hooks: [{ events: ['tools/call'], phase: 'request' }] },
      {
        name: 'onlyOpen',
        type: 'validation',
        hooks: [{ events: ['resources/subscribe'], phase: 'request' }],
      },
      { name: 'hangs', type: 'validation', hooks: [{ events: ['custom/event'], phase: 'request' }] },
    ]);
  });

  it.each([
    ['noEvil', 'nice', { valid: true }],
    [
      'noEvil',
      'evil',
      {
        valid: false,
        severity: 'error',
        messages: [{ path: 'arguments.text', message: 'Not that', severity: 'error' }],
      },
    ],
    ['upper', 'nice', { modified: true, payload: { name: 'echo', arguments: { text: 'NICE' } } }],
  ])('are invoked: %s on %s', async (name, text, result) => {
    const payload = { name: 'echo', arguments: { text } };
    expect(await invoke({ name, event: 'tools/call', phase: 'request', payload })).toMatchObject({
      interceptor: name,
      phase: 'request',
      ...result,
    });
  });

  it('cannot be invoked for what they do not hook', async () => {
    const params = { name: 'noEvil', phase: 'request', payload: {} };
    await expect(invoke({ ...params, event: 'tools/list' })).rejects.toMatchObject({
      code: -32602,
      data: { interceptor: 'noEvil', reason: 'it does not hook tools/list in the request phase' },
    });
  });

  it('are given up when their time is up', async () => {
    const params = { name: 'hangs', event: 'custom/event', phase: 'request', payload: {} };
    await expect(invoke(params)).rejects.toMatchObject({
      code: -32000,
      data: { interceptor: 'hangs', timeoutMs: 20, phase: 'request' },
    });
  });

  it('refuse a call with the code and the data of the rules', async () => {
    await expect(echo('evil')).rejects.toMatchObject({
      code: -32602,
      message: expect.stringContaining('Interceptor validation failed') as string,
      data: {
        validationErrors: [
          { interceptor: 'noEvil', severity: 'error', message: 'Not that', path: 'arguments.text' },
        ],
      },
    });
  });

  it('refuse a subscription, and admit another', async () => {
    await expect(subscribe('state://closed')).rejects.toMatchObject({
      code: -32602,
      data: { validationErrors: [{ interceptor: 'onlyOpen', message: 'Closed', path: 'uri' }] },
    });
    await subscribe('state://open');
  });

  it('that take their time over a subscription hold up nothing else', async () => {
    const subscribed = subscribe('state://held');
    await client.callTool({ name: 'release' });
    await subscribed;
  });
});
