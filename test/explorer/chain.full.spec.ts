import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as later } from 'node:timers/promises';
import { Injectable, Logger } from '@nestjs/common';
import { Args, deny, Mutator, Sink, Tool, Validator, type InterceptorInvocation } from 'nestjs-mcp';
import { McpTelemetryModule } from 'nestjs-mcp/telemetry';
import { startApp } from '../fixtures/matrix.js';
import { Recorder } from '../telemetry/recorder.js';
import { startExplored } from './explored-app.js';

const API = '/mcp-explorer/api';

@Injectable()
class Tools {
  @Tool({ description: 'Says it', annotations: { readOnlyHint: true } })
  say(@Args('text') text: string) {
    return text;
  }

  @Validator({ name: 'short', events: ['tools/call'], mode: 'audit', final: true })
  short({ payload }: { payload: { arguments?: { text?: string } } }) {
    return (payload.arguments?.text ?? '').length < 5 || deny('too long');
  }

  @Validator({ name: 'other', events: ['tools/call'], when: { name: 'nothing' }, timeoutMs: 3000 })
  other() {
    return true;
  }

  @Mutator({ name: 'shout', events: ['tools/call'], phase: 'request', priority: 7 })
  shout({ payload }: { payload: { arguments: { text: string } } }) {
    return { ...payload, arguments: { text: payload.arguments.text.toUpperCase() } };
  }

  @Sink({ name: 'journal', events: ['*'] })
  journal() {}
}

@Injectable()
class Rules {
  @Validator({ name: 'remote', events: ['tools/call'], description: 'Looks from afar' })
  remote() {
    return true;
  }
}

it('tells where each value comes from, and what each interceptor came to', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'explorer-'));
  const policyFile = join(folder, 'policy.json');
  writeFileSync(policyFile, JSON.stringify({ overrides: { shout: { timeoutMs: 1500 } } }));
  const rules = await startApp([Rules], {
    mcp: { name: 'rules', interceptors: { expose: true, apply: false } },
  });
  const overrides = { shout: { timeoutMs: 1200, mode: 'audit' as const }, 'local/other': { failOpen: true } };
  const servers = [{ name: 'rules', url: await rules.url() }];
  const app = await startExplored([Tools], { mcp: { interceptors: { policyFile, overrides, servers } } });

  const client = await app.client();
  await client.callTool({ name: 'say', arguments: { text: 'hi' } });
  await client.callTool({ name: 'say', arguments: { text: 'a long text' } });
  const { json } = await app.get(`${API}/chain`);
  const [{ interceptors, hosts, phases }] = json.servers;
  expect(hosts).toEqual([{ name: 'rules', state: 'connected', breaker: 'closed', interceptors: 1 }]);
  const of = (id: string) => interceptors.find((one: { id: string }) => one.id === id);
  expect(of('local/shout')).toMatchObject({
    mode: { value: 'audit', from: 'override' },
    timeoutMs: { value: 1500, from: 'policy file' },
    priority: { value: { request: 7, response: 7 }, from: 'declared' },
    failOpen: { value: false, from: 'default' },
    counters: { runs: 2, outcomes: { mutated: 2 }, wouldChange: 2, wouldRefuse: 0, p50: expect.any(Number) },
  });
  expect(of('local/other')).toMatchObject({
    failOpen: { value: true, from: 'override' },
    timeoutMs: { value: 3000, from: 'declared' },
    when: { value: '{"name":"nothing"}', from: 'declared' },
    counters: { runs: 0, skipped: { when: 2 } },
  });
  expect(of('local/short')).toMatchObject({
    final: 'final',
    counters: { outcomes: { pass: 1, deny: 1 }, wouldRefuse: 1 },
  });
  expect(of('rules/remote')).toMatchObject({
    host: 'rules',
    description: 'Looks from afar',
    counters: { runs: 2, outcomes: { pass: 2 } },
  });
  const call = phases.find(
    (one: { event: string; phase: string }) => one.event === 'tools/call' && one.phase === 'request',
  );
  expect(call).toMatchObject({
    direction: 'receive',
    order: [
      { id: 'local/short', step: 'validators' },
      { id: 'local/other', step: 'validators', skippedIf: 'the condition does not hold: {"name":"nothing"}' },
      { id: 'rules/remote', step: 'validators' },
      { id: 'local/shout', step: 'mutators' },
      { id: 'local/short', step: 'final validators', skippedIf: 'no mutator changed the payload' },
      { id: 'local/journal', step: 'sinks' },
    ],
  });

  expect(of('local/journal')).not.toHaveProperty('failOpen');

  await rules.close();
  await client.callTool({ name: 'say', arguments: { text: 'hi' } }).catch(() => undefined);
  const { json: after } = await app.get(`${API}/chain`);
  expect(
    after.servers[0].interceptors.find((one: { id: string }) => one.id === 'rules/remote').counters.runs,
  ).toBe(3);
  await app.close();
  rmSync(folder, { recursive: true });
});

@Injectable()
class Journals {
  @Sink({ name: 'breaking', events: ['tools/call'], when: { name: 'say' } })
  breaking({ payload }: InterceptorInvocation<'tools/call', 'request'>) {
    if (payload.arguments?.['text'] === 'BREAK') throw new Error('broken');
  }

  @Sink({ name: 'elsewhere', events: ['tools/call'], when: { name: 'nothing' } })
  elsewhere() {}

  @Sink({ name: 'later', events: ['tools/call'], compat: { minProtocol: '2099-01-01' } })
  later() {}
}

it('counts the runs of sinks', async () => {
  jest.spyOn(Logger.prototype, 'warn').mockImplementation();
  const app = await startExplored([Tools, Journals]);
  const client = await app.client();
  await client.callTool({ name: 'say', arguments: { text: 'hi' } });
  await client.callTool({ name: 'say', arguments: { text: 'break' } });
  const { json } = await app.get(`${API}/chain`);
  const of = (id: string) => json.servers[0].interceptors.find((one: { id: string }) => one.id === id);
  expect(of('local/breaking').counters).toMatchObject({
    runs: 2,
    outcomes: { recorded: 1, crash: 1 },
    wouldRefuse: 0,
    p50: expect.any(Number),
  });
  expect(of('local/elsewhere').counters).toMatchObject({ runs: 0, skipped: { when: 2 } });
  expect(of('local/later').counters).toMatchObject({ runs: 0, skipped: { compat: 2 } });
  await app.close();
  jest.restoreAllMocks();
});

@Injectable()
class Slow {
  @Validator({ name: 'slow', events: ['tools/call'], phase: 'request', mode: 'audit' })
  async slow() {
    await later(50);
    return deny('late');
  }
}

it('a trace waits for audit interceptors, for which the caller does not wait', async () => {
  const app = await startExplored([Tools, Slow]);
  const { json } = await app.post(`${API}/call`, {
    server: 'test',
    caller: { kind: 'anonymous' },
    method: 'tools/call',
    params: { name: 'say', arguments: { text: 'hi' } },
  });
  const turns = json.chain.flatMap((run: { turns: object[] }) => run.turns);
  expect(turns).toContainEqual(expect.objectContaining({ id: 'local/slow', mode: 'audit', outcome: 'deny' }));
  await app.close();
});

it('a server that only exposes interceptors runs none', async () => {
  const app = await startExplored([Tools], { mcp: { interceptors: { expose: true, apply: false } } });
  const { json } = await app.get(`${API}/chain`);
  expect(json.servers[0].interceptors).toHaveLength(4);
  expect(json.servers[0].phases).toEqual([]);
  await app.close();
});

it('traces calls beside telemetry, which gets its spans', async () => {
  const recorder = new Recorder();
  const imports = [McpTelemetryModule.forRoot({ interceptors: 'spans' })];
  const app = await startExplored([Tools], { module: { imports } });
  const { json } = await app.post(`${API}/call`, {
    server: 'test',
    caller: { kind: 'anonymous' },
    method: 'tools/call',
    params: { name: 'say', arguments: { text: 'hi' } },
  });
  expect(json).toMatchObject({
    outcome: 'result',
    chain: [
      {
        skipped: [{ id: 'local/other', reason: 'when' }],
        turns: [
          { id: 'local/short', outcome: 'pass' },
          {
            id: 'local/shout',
            before: { value: { arguments: { text: 'hi' } } },
            after: { value: { arguments: { text: 'HI' } } },
          },
          { id: 'local/short', isFinal: true },
        ],
      },
    ],
  });
  const names = recorder.spans
    .filter(span => span.spanContext().traceId === json.traceId)
    .map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(['tools/call say', 'interceptor short', 'interceptor shout']));
  await app.close();
  await recorder.close();
});
