import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Injectable } from '@nestjs/common';
import { context, propagation, trace } from '@opentelemetry/api';
import { OnElicitation, type McpClient, type McpClientOptions } from 'nestjs-mcp/client';
import { McpTelemetryModule } from 'nestjs-mcp/telemetry';
import { startClients, textOf, type ClientApp } from '../client/fixtures.js';
import { NodeProcess } from '../elicitation/node-process.js';
import { readSpans, writeSpans, type WrittenSpan } from './span-file.js';

@Injectable()
class User {
  @OnElicitation('shop')
  answer() {
    return { action: 'accept' as const, content: {} };
  }
}

const app = '../telemetry/traced-app.ts';
const folder = mkdtempSync(join(tmpdir(), 'spans-'));
const file = join(folder, 'spans');
const provider = writeSpans(file, 'client');
afterAll(async () => {
  await provider.shutdown();
  for (const api of [trace, context, propagation]) api.disable();
  rmSync(folder, { recursive: true });
});

/** Without the lists that a gateway reads again when its copy has become old, as on a slow machine. */
const callSpans = () => readSpans(file).filter(({ name }) => name !== 'tools/list');

/** The tree under a span, a line for each. */
const treeOf = (spans: readonly WrittenSpan[], parentId?: string, indent = ''): string[] =>
  spans
    .filter(span => span.parentId === parentId)
    .flatMap(({ service, kind, name, spanId }) => [
      `${indent}${service} ${kind} ${name}`,
      ...treeOf(spans, spanId, `${indent}  `),
    ]);

describe.each(['http', 'stdio'] as const)('four processes, over %s', way => {
  const processes: NodeProcess[] = [];
  let target: Partial<McpClientOptions>;

  beforeAll(async () => {
    const env = { SPANS: file };
    if (way === 'stdio') {
      const hook = join(__dirname, '../fixtures/ts-hook.cjs');
      target = {
        command: process.execPath,
        args: ['-r', hook, join(__dirname, 'traced-app.ts')],
        env: { PATH: process.env['PATH'] ?? '', SERVICE: 'gateway', ...env },
      };
      return;
    }
    const shop = new NodeProcess({ app, env: { ...env, SERVICE: 'shop', PORT: '0' } });
    processes.push(shop);
    await shop.start();
    const gateway = new NodeProcess({ app, env: { ...env, SERVICE: 'gateway', PORT: '0', NEXT: shop.url! } });
    processes.push(gateway);
    await gateway.start();
    target = { url: gateway.url! };
  }, 60_000);
  afterAll(() => Promise.all(processes.map(one => one.kill())));

  describe.each(['modern', 'legacy'] as const)('%s', era => {
    let clients: ClientApp;
    let client: McpClient;

    beforeAll(async () => {
      const imports = [McpTelemetryModule.forRoot()];
      const options = { name: 'shop', connectTimeoutMs: 60_000, capabilities: { elicitation: { form: {} } } };
      clients = await startClients([{ ...options, ...target, era }], [User], { imports });
      client = clients.client();
      // What each process learns of the next at first: what it is, its tools, its interceptors.
      await client.callTool({ name: 'search', arguments: { query: 'lamp' } });
    }, 60_000);
    afterAll(() => clients.close());
    beforeEach(() => writeFileSync(file, ''));

    it('have one trace of a call, each span under the span that sent it', async () => {
      const found = await client.callTool({ name: 'search', arguments: { query: 'lamp' } });
      expect(textOf(found)).toBe('lamp');
      const spans = callSpans();
      expect(treeOf(spans)).toEqual([
        'client CLIENT tools/call search',
        '  gateway SERVER tools/call search',
        '    gateway CLIENT tools/call search',
        '      shop SERVER tools/call search',
        '        shop CLIENT interceptor/invoke',
        '          policy SERVER interceptor/invoke',
        '            policy INTERNAL policy',
        '        shop INTERNAL handler',
      ]);
      expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1);
      expect(spans.flatMap(({ links }) => links)).toEqual([]);
    });

    it('have the attributes of the conventions in each span', async () => {
      await client.callTool({ name: 'search', arguments: { query: 'lamp' } });
      const network =
        way === 'http'
          ? { 'network.transport': 'tcp', 'network.protocol.name': 'http' }
          : { 'network.transport': 'pipe' };
      const call = {
        'mcp.method.name': 'tools/call',
        'gen_ai.tool.name': 'search',
        'gen_ai.operation.name': 'execute_tool',
        'mcp.protocol.version': era === 'modern' ? '2026-07-28' : '2025-11-25',
        ...network,
      };
      const invocation = { 'mcp.method.name': 'interceptor/invoke', 'network.transport': 'pipe' };
      const spans = callSpans().filter(({ kind }) => kind !== 'INTERNAL');
      for (const { service, kind, attributes } of spans) {
        const isToPolicy = service === 'policy' || (service === 'shop' && kind === 'CLIENT');
        // A gateway chooses the revision of its backend.
        const { 'mcp.protocol.version': version, ...others }: Record<string, string> = isToPolicy
          ? invocation
          : call;
        const isFromUser = service === 'client' || (service === 'gateway' && kind === 'SERVER');
        expect(attributes).toMatchObject(
          isFromUser ? { ...others, 'mcp.protocol.version': version } : others,
        );
        expect(attributes['jsonrpc.request.id']).toMatch(/./);
        const hasNoAddress = isToPolicy || way === 'stdio';
        const address = Object.keys(attributes).filter(key => /^(client|server)[.]/.test(key));
        const side = kind === 'CLIENT' ? 'server' : 'client';
        expect(address).toEqual(hasNoAddress ? [] : [`${side}.address`, `${side}.port`]);
      }
      expect(spans).toHaveLength(6);
    });

    it('tell a failure in each span', async () => {
      await client.callTool({ name: 'broken' });
      const failed = callSpans().filter(({ attributes }) => attributes['error.type'] === 'tool_error');
      expect(failed.map(({ service, kind }) => `${service} ${kind}`)).toEqual([
        'shop SERVER',
        'gateway CLIENT',
        'gateway SERVER',
        'client CLIENT',
      ]);
    });

    it('have a call that asks in one trace, with links between its rounds', async () => {
      const asked = await client.callTool({ name: 'asks' });
      expect(textOf(asked)).toBe('asked');
      const spans = callSpans();
      for (const service of ['gateway', 'shop']) {
        const rounds = spans.filter(
          ({ service: one, kind, name }) =>
            one === service && kind === 'SERVER' && name.startsWith('tools/call'),
        );
        const linked = rounds.map(({ links }) => links);
        // A gateway speaks 2026-07-28 to its backend, and then asks a 2025 client by itself.
        const isOneSpan = era === 'legacy' && service === 'gateway';
        expect(linked).toEqual(isOneSpan ? [[]] : [[], [rounds[0].spanId]]);
      }
      const questions = spans
        .filter(({ name }) => name === 'elicitation/create')
        .map(({ service, kind }) => `${service} ${kind}`);
      expect(questions.sort()).toEqual(era === 'modern' ? [] : ['client SERVER', 'gateway CLIENT']);
    });
  });
});
