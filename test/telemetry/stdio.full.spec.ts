import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Client } from '@modelcontextprotocol/client';
import { SpanKind } from '@opentelemetry/api';
import { connectStdio, ERAS } from '../gateway/support.js';
import { casesOf } from './cases.js';
import { expectConform, type CheckedSpan } from './conventions.js';
import { readSpans } from './span-file.js';

const folder = mkdtempSync(join(tmpdir(), 'spans-'));
afterAll(() => rmSync(folder, { recursive: true }));

const capabilities = { elicitation: { form: {} }, sampling: {}, roots: {} };

describe.each(ERAS)('a span over stdio, %s', era => {
  const file = join(folder, era);
  const protocolVersion = era === 'modern' ? '2026-07-28' : '2025-11-25';
  const common = { protocolVersion, http: false } as const;
  let client: Client;
  beforeAll(async () => {
    writeFileSync(file, '');
    const hook = join(__dirname, '../fixtures/ts-hook.cjs');
    const prepare = (one: Client) => {
      one.setRequestHandler('elicitation/create', () => ({ action: 'accept', content: {} }));
    };
    client = await connectStdio(
      {
        command: process.execPath,
        args: ['-r', hook, join(__dirname, 'stdio-app.ts')],
        env: { PATH: process.env['PATH'] ?? '', SPANS: file },
      },
      era,
      { capabilities, prepare },
    );
  });
  afterAll(() => client.close());

  const spans = (kind: 'SERVER' | 'CLIENT'): CheckedSpan[] =>
    readSpans(file)
      .filter(span => span.kind === kind)
      .map(span => ({ ...span, kind: SpanKind[kind], ended: true }));

  const handshake = era === 'modern' ? 'server/discover' : 'initialize';

  it(`has the attributes of the conventions for ${handshake}`, () => {
    const [found] = spans('SERVER');
    expectConform(found, {
      kind: 'SERVER',
      method: handshake,
      ...common,
    });
  });

  describe('of a request', () => {
    beforeEach(() => writeFileSync(file, ''));

    it.each(casesOf(era, true))('has the attributes of the conventions for $what', async ({ send, span }) => {
      await send(client).catch(() => undefined);
      const [found, ...others] = spans('SERVER');
      expectConform(found, { kind: 'SERVER', ...span, ...common });
      expect(others).toEqual([]);
    });

    it('has the attributes of the conventions for a call that is cancelled', async () => {
      const cancel = new AbortController();
      const running = client.callTool(
        { name: 'waits' },
        { signal: cancel.signal, onprogress: () => cancel.abort() },
      );
      await running.catch(() => undefined);
      while (spans('SERVER').length === 0) await nextTurn();
      const [found] = spans('SERVER');
      const call = { kind: 'SERVER', method: 'tools/call', tool: 'waits', ...common } as const;
      expectConform(found, { ...call, errorType: 'cancelled' });
    });

    it('is beside a gauge of the calls that run', async () => {
      const { content } = await client.callTool({ name: 'running' });
      expect(content).toEqual([{ type: 'text', text: '1' }]);
    });

    it('has the attributes of the conventions for a call that asks', async () => {
      await client.callTool({ name: 'elicits' });
      const call = { kind: 'SERVER', method: 'tools/call', tool: 'elicits', ...common } as const;
      const [first, second] = spans('SERVER');
      expectConform(first, { ...call, asks: era === 'modern' });
      if (era === 'modern') return expectConform(second, call);
      const [question] = spans('CLIENT');
      expectConform(question, { kind: 'CLIENT', method: 'elicitation/create', ...common });
    });
  });
});
