import { request as send } from 'node:http';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { Injectable } from '@nestjs/common';
import { Args, Ctx, McpContext, Sink, Tool } from 'nestjs-mcp';
import { McpGatewayModule } from 'nestjs-mcp/gateway';
import type { CallEvent } from '../../lib/explorer/api.js';
import { CSRF, startExplored, type ExploredApp } from './explored-app.js';

const API = '/mcp-explorer/api';
const ANYBODY = { server: 'test', caller: { kind: 'anonymous' }, method: 'tools/call' };

@Injectable()
class Reports {
  private goOn = (): void => undefined;

  @Tool({ annotations: { readOnlyHint: true } })
  async report(@Ctx() ctx: McpContext) {
    await ctx.reportProgress(1, 2, 'half');
    await ctx.log.info('Reading');
    await new Promise<void>(resolve => (this.goOn = resolve));
    return 'done';
  }

  @Tool({ annotations: { readOnlyHint: true } })
  go() {
    this.goOn();
    return 'gone';
  }

  @Tool({ annotations: { readOnlyHint: true } })
  async size(@Args('shape') shape: string, @Ctx() ctx: McpContext) {
    const schema = { type: 'object' as const, properties: { size: { type: 'string' as const } } };
    const answer = await ctx.elicit('size', { message: 'Which size?', schema });
    return answer.action === 'accept' ? `${shape} ${String(answer.content['size'])}` : 'none';
  }

  @Sink({ name: 'journal', events: ['tools/call'], phase: 'both' })
  journal() {
    return new Promise<void>(resolve => setImmediate(resolve));
  }

  @Sink({ name: 'broken', events: ['tools/call'], phase: 'request' })
  broken() {
    throw new Error('no disk');
  }
}

/** Calls, and yields the lines of the answer while they come. */
async function* lines(app: ExploredApp, body: object): AsyncGenerator<CallEvent> {
  const sending = send(await app.url(`${API}/call`), {
    method: 'POST',
    headers: { ...CSRF, accept: 'application/x-ndjson' },
    agent: false,
  });
  sending.end(JSON.stringify(body));
  const [answer] = await once(sending, 'response');
  for await (const line of createInterface(answer)) yield JSON.parse(line) as CallEvent;
}

const named = (name: string, args: object = {}) => ({ ...ANYBODY, params: { name, arguments: args } });

let app: ExploredApp;
beforeAll(async () => {
  app = await startExplored([Reports]);
  await app.url();
});
afterAll(() => app.close());

describe('a call that is streamed', () => {
  it.each(['2026-07-28', '2025-11-25'])(
    'shows progress and log messages while it runs, in %s',
    async revision => {
      const events: CallEvent[] = [];
      for await (const event of lines(app, { ...named('report'), revision })) {
        events.push(event);
        if (event.type === 'log') await app.post(`${API}/call`, named('go'));
      }
      expect(events).toMatchObject([
        { type: 'progress', progress: { text: 'half', share: 0.5 } },
        { type: 'log', log: { level: 'info', text: 'Reading' } },
        { type: 'trace', trace: { outcome: 'result', result: { value: { content: [{ text: 'done' }] } } } },
      ]);
    },
  );

  it('answers an elicitation in a session', async () => {
    const events: CallEvent[] = [];
    for await (const event of lines(app, { ...named('size', { shape: 'shirt' }), revision: '2025-06-18' })) {
      events.push(event);
      if (event.type !== 'inputRequest') continue;
      const result = { action: 'accept', content: { size: 'M' } };
      const answer = { call: event.call, key: event.inputRequest.key, result };
      expect((await app.post(`${API}/answer`, answer)).status).toBe(200);
    }
    expect(events).toMatchObject([
      {
        type: 'inputRequest',
        inputRequest: { method: 'elicitation/create', params: { message: 'Which size?' } },
      },
      { type: 'trace', trace: { result: { value: { content: [{ text: 'shirt M' }] } } } },
    ]);
  });

  it('is refused like any other', async () => {
    const { value: event } = await lines(app, { ...named('report'), revision: '1999-01-01' }).next();
    expect(event).toEqual({ error: expect.stringContaining('serves the revisions 2026-07-28') });
    const answer = await app.post(`${API}/answer`, { call: 'none', key: '0', result: {} });
    expect(answer.status).toBe(404);
  });
});

it('a trace names the sinks, with their outcomes', async () => {
  const { json } = await app.post(`${API}/call`, named('go'));
  expect(json.sinks).toEqual([
    {
      id: 'local/journal',
      event: 'tools/call',
      phase: 'request',
      outcome: 'recorded',
      durationMs: expect.any(Number),
    },
    {
      id: 'local/broken',
      event: 'tools/call',
      phase: 'request',
      outcome: 'crash',
      durationMs: expect.any(Number),
    },
    {
      id: 'local/journal',
      event: 'tools/call',
      phase: 'response',
      outcome: 'recorded',
      durationMs: expect.any(Number),
    },
  ]);
});

it('live rows name their caller, and mark what the page has sent', async () => {
  const own = await startExplored([Reports], {
    configure: one =>
      one.use((request: { headers: object; user?: object }, _: unknown, next: () => void) => {
        if ('x-user' in request.headers) request.user = { id: request.headers['x-user'] };
        next();
      }),
  });
  const client = await own.client({ headers: { 'x-user': 'ada' }, era: 'legacy' });
  await client.callTool({ name: 'go' });
  await own.post(`${API}/call`, { ...named('go'), revision: '2025-11-25' });
  const { json } = await own.get(`${API}/live`);
  const rows = json.calls.map(({ method, caller, isOwn }: Record<string, unknown>) => ({
    method,
    caller,
    isOwn,
  }));
  const sent = (isOwn?: boolean) => rows.filter((row: { isOwn?: boolean }) => row.isOwn === isOwn);
  expect(sent()).toEqual(['tools/call', 'initialize'].map(method => ({ method, caller: 'ada' })));
  expect(sent(true)).toEqual(
    ['tools/call', 'logging/setLevel', 'initialize'].map(method => ({ method, isOwn: true })),
  );
  const [{ callers, traffic }] = json.servers;
  expect(callers).toEqual([{ caller: 'ada', open: expect.objectContaining({ sessions: 1 }) }]);
  expect(traffic.at(-1).calls + traffic.at(-2).calls).toBe(sent().length);
  await own.close();
});

it('a gateway asks no token for a synthetic caller, and says so', async () => {
  const tokenFor = jest.fn(() => 'token');
  const gateway = await startExplored([], {
    mcp: false,
    module: {
      imports: [
        McpGatewayModule.forRoot({
          name: 'edge',
          version: '1.0.0',
          path: '/edge',
          backend: { url: 'http://127.0.0.1:9/mcp', tokenFor },
        }),
      ],
    },
  } as never);
  const caller = { kind: 'synthetic', scopes: [], roles: [] };
  const { json } = await gateway.post(`${API}/callers`, { server: 'edge', caller });
  expect(json).toEqual({ refused: expect.stringContaining('"tokenFor"'), lists: [] });
  expect(tokenFor).not.toHaveBeenCalled();
  await gateway.close();
});
