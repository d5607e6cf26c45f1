import { join } from 'node:path';
import type { Client } from '@modelcontextprotocol/client';
import { Inbox } from '../fixtures/inbox.js';
import { textOf } from '../fixtures/matrix.js';
import { connect, outcomeOf, startGateway, type Era, type Running } from './support.js';

// Backends are processes, which compile what they load.
jest.setTimeout(120_000);

const backendOf = (era: Era) => ({
  command: process.execPath,
  args: ['-r', join(__dirname, '../fixtures/ts-hook.cjs'), join(__dirname, 'late-backend.ts')],
  era,
});

describe('what a 2025 backend on stdio asks late', () => {
  const questions: string[] = [];
  let gateway: Running;
  let alice: Client;
  let bob: Client;
  const client = (name: string) =>
    connect(gateway.url, 'modern', {
      capabilities: { elicitation: { form: {} } },
      prepare: one =>
        one.setRequestHandler('elicitation/create', ({ params }) => {
          questions.push(`${name}: ${params.message}`);
          return { action: 'accept', content: {} };
        }),
    });

  beforeEach(async () => {
    questions.length = 0;
    gateway = await startGateway({ backend: backendOf('legacy'), timeoutMs: 10_000 });
    [alice, bob] = await Promise.all(['alice', 'bob'].map(client));
  });
  afterEach(async () => {
    await Promise.all([alice.close(), bob.close()]);
    await gateway.app.close();
  });

  it('is not asked of another client when the call was given up', async () => {
    const begun = new Inbox<unknown>();
    const cancel = new AbortController();
    const call = alice.callTool({ name: 'begin' }, { signal: cancel.signal, onprogress: begun.put });
    const outcome = outcomeOf(call);
    await begun.take();
    cancel.abort();
    await outcome;
    expect(textOf(await bob.callTool({ name: 'ask' }))).toBe('of nobody else');
    expect(questions).toEqual([]);
  });

  it('is not asked of another client when the call has ended', async () => {
    expect(textOf(await alice.callTool({ name: 'finish' }))).toBe('finished');
    expect(textOf(await bob.callTool({ name: 'ask' }))).toBe('of nobody else');
    expect(questions).toEqual([]);
  });
});

describe('what a 2025 backend on stdio does after its time is up', () => {
  it('reaches no other call', async () => {
    const gateway = await startGateway({ backend: backendOf('legacy'), timeoutMs: 3_000 });
    const client = await connect(gateway.url, 'modern');
    expect(await outcomeOf(client.callTool({ name: 'begin' }))).toMatchObject({ code: -32603 });
    expect(textOf(await client.callTool({ name: 'ask' }))).toBe('of nobody else');
    await client.close();
    await gateway.app.close();
  });
});

describe('what a 2026 backend on stdio logs', () => {
  it('is told only while nobody else has called it', async () => {
    const gateway = await startGateway({ backend: backendOf('modern') });
    const clients = await Promise.all([1, 2].map(() => connect(gateway.url, 'modern')));
    const logs = clients.map(client => {
      const seen: unknown[] = [];
      client.setNotificationHandler('notifications/message', ({ params }) => void seen.push(params.data));
      return seen;
    });
    for (const client of clients) {
      await client.callTool({ name: 'tell', _meta: { 'io.modelcontextprotocol/logLevel': 'debug' } });
    }
    expect(logs).toEqual([['a secret'], []]);
    await Promise.all(clients.map(client => client.close()));
    await gateway.app.close();
  });
});
