import { Injectable, Scope } from '@nestjs/common';
import { deny, McpException, Mutator, respondWith, Validator, type InterceptorInvocation } from 'nestjs-mcp';
import {
  OnElicitation,
  OnRoots,
  OnSampling,
  type InputRequestContext,
  type InputRequestTypes,
  type McpClientOptions,
} from 'nestjs-mcp/client';
import { startApp, type TestApp } from '../fixtures/matrix.js';
import { Shop, startClients, textOf, Trace, type ClientApp } from './fixtures.js';

const ERAS = ['modern', 'legacy'] as const;
type Elicit = InputRequestTypes['elicitation/create'];
type Sample = InputRequestTypes['sampling/createMessage'];

@Injectable()
class Answers {
  readonly asked: unknown[] = [];
  name = 'ann';

  @OnElicitation('modern')
  @OnElicitation('legacy')
  ask(params: Elicit['params'], { client, signal }: InputRequestContext): unknown {
    this.asked.push({ params, client, isWanted: !signal.aborted });
    if (this.name === 'crash') throw new Error('password=hunter2');
    if (this.name === 'own code') throw new McpException(-32042, 'Not now', { later: true });
    if (this.name === 'garbage') return { action: 'perhaps' };
    return { action: 'accept', content: { name: this.name } };
  }

  @OnSampling('modern')
  @OnSampling('legacy')
  think({ messages }: Sample['params']): Sample['result'] {
    this.asked.push(messages);
    return { role: 'assistant', model: 'test', content: { type: 'text', text: 'a secret thought' } };
  }

  @OnRoots('modern')
  @OnRoots('legacy')
  roots() {
    return { roots: [{ uri: 'file:///home/secret' }, { uri: 'file:///work' }] };
  }
}

describe.each(ERAS)('what a server asks, %s', era => {
  let server: TestApp;
  let clients: ClientApp;
  let trace: Trace;
  let answers: Answers;
  const call = (name: string) => clients.client(era).callTool({ name });

  beforeAll(async () => {
    server = await startApp([Shop], { forceCloseConnections: true });
    const url = await server.url();
    clients = await startClients(
      ERAS.map(one => ({ name: one, url, era: one })),
      [Trace, Answers],
    );
    trace = clients.app.get(Trace);
    answers = clients.app.get(Answers);
  });
  afterAll(async () => {
    await clients.close();
    await server.close();
  });
  beforeEach(() => {
    trace.seen.length = 0;
    trace.requests.length = 0;
    answers.asked.length = 0;
    answers.name = 'ann';
  });

  it.each([
    ['ask', 'elicitation/create', JSON.stringify({ action: 'accept', content: { name: 'ann' } })],
    ['think', 'sampling/createMessage', JSON.stringify({ type: 'text', text: 'a *** thought' })],
    ['where', 'roots/list', 'file:///home/*** file:///work'],
  ])('is answered by a handler, with the chain around it: %s, %s', async (tool, event, answer) => {
    expect(textOf(await call(tool))).toBe(answer);
    expect(trace.seen.filter(entry => entry.startsWith(event))).toEqual([
      `${event} request receive validate`,
      `${event} request receive mutate`,
      `${event} request success`,
      `${event} response send mutate`,
      `${event} response send validate after`,
      `${event} response success`,
    ]);
  });

  it('comes to the handler as it was changed', async () => {
    await call('think');
    expect(answers.asked).toEqual([[{ role: 'user', content: { type: 'text', text: '*** plan' } }]]);
  });

  it('comes with the bare params, and who asked', async () => {
    await call('ask');
    expect(answers.asked).toEqual([
      {
        params: expect.objectContaining({ message: 'Who are you?', requestedSchema: expect.any(Object) }),
        client: era,
        isWanted: true,
      },
    ]);
    expect((answers.asked[0] as { params: object }).params).not.toHaveProperty('_meta');
  });

  // A server of the 2025 revisions is told of the refusal, one of 2026-07-28 just gets no answer.
  const failure = async (): Promise<string> => {
    const outcome: unknown = await call('ask').catch((error: unknown) => error);
    return era === 'modern' ? JSON.stringify(outcome) + String(outcome) : textOf(outcome as object);
  };

  it('is not answered where an interceptor refuses the answer', async () => {
    answers.name = 'deny-response';
    const said = await failure();
    expect(answers.asked).toHaveLength(1);
    expect(said).not.toContain('accept');
    if (era === 'modern') expect(said).toContain('Interceptor validation failed');
  });

  it.each([['crash'], ['garbage']])(
    'is not answered where the handler fails (%s), and nobody is told why',
    async name => {
      answers.name = name;
      const said = await failure();
      expect(said).not.toMatch(/hunter2|perhaps/);
      if (era === 'modern') expect(said).toContain('Internal error');
    },
  );

  it('is answered with the code that the handler gives', async () => {
    answers.name = 'own code';
    if (era === 'modern')
      await expect(call('ask')).rejects.toMatchObject({ code: -32042, data: { later: true } });
    else expect((await call('ask')).isError).toBe(true);
  });

  it('finds the capabilities that there are handlers for', async () => {
    expect(JSON.parse(textOf(await call('declared')))).toMatchObject({
      elicitation: { form: {} },
      sampling: {},
      roots: {},
    });
  });
});

describe('a client', () => {
  let server: TestApp;
  beforeAll(async () => void (server = await startApp([Shop], { forceCloseConnections: true })));
  afterAll(() => server.close());
  const shop = async (more: Partial<McpClientOptions> = {}): Promise<McpClientOptions[]> => [
    { name: 'shop', url: await server.url(), ...more },
  ];

  it.each(ERAS)('without handlers declares nothing but tasks, on 2026-07-28 (%s)', async era => {
    const clients = await startClients(await shop({ era }));
    expect(JSON.parse(textOf(await clients.client().callTool({ name: 'declared' })))).toEqual(
      era === 'modern' ? { extensions: { 'io.modelcontextprotocol/tasks': {} } } : {},
    );
    await clients.close();
  });

  it.each(ERAS)('can say more of what its handlers can do (%s)', async era => {
    @Injectable()
    class Handler {
      @OnElicitation('shop')
      ask() {
        return { action: 'decline' };
      }
    }
    const capabilities = { elicitation: { form: {}, url: {} } };
    const clients = await startClients(await shop({ era, capabilities, tasks: false }), [Handler]);
    expect(JSON.parse(textOf(await clients.client().callTool({ name: 'declared' })))).toEqual(capabilities);
    expect(textOf(await clients.client().callTool({ name: 'ask' }))).toBe('{"action":"decline"}');
    await clients.close();
  });

  it('may have a request-scoped handler', async () => {
    let made = 0;
    @Injectable({ scope: Scope.REQUEST })
    class Handler {
      readonly number = ++made;

      @OnElicitation('shop')
      ask() {
        return { action: 'accept', content: { name: `${this.number}` } };
      }
    }
    const clients = await startClients(await shop(), [Handler]);
    const ask = async () => textOf(await clients.client().callTool({ name: 'ask' }));
    expect([await ask(), await ask()]).toEqual([
      '{"action":"accept","content":{"name":"1"}}',
      '{"action":"accept","content":{"name":"2"}}',
    ]);
    await clients.close();
  });

  it.each(ERAS)('refuses what a server asks before any handler sees it (%s)', async era => {
    const asked: unknown[] = [];
    @Injectable()
    class Handler {
      @Validator({ events: ['elicitation/create'] })
      noNames({ payload }: InterceptorInvocation<'elicitation/create', 'request'>) {
        return !JSON.stringify(payload).includes('Who') || deny('We do not tell names', { path: 'message' });
      }

      @OnElicitation('shop')
      ask(params: unknown) {
        asked.push(params);
        return { action: 'accept', content: {} };
      }
    }
    const clients = await startClients(await shop({ era }), [Handler]);
    const outcome = clients.client().callTool({ name: 'ask' });
    if (era === 'modern') {
      await expect(outcome).rejects.toMatchObject({
        code: -32602,
        data: {
          validationErrors: [{ interceptor: 'noNames', message: 'We do not tell names', path: 'message' }],
        },
      });
    } else expect((await outcome).isError).toBe(true);
    expect(asked).toEqual([]);
    await clients.close();
  });

  it.each(ERAS)('lets an interceptor answer in place of the handler (%s)', async era => {
    @Injectable()
    class Handler {
      @Mutator({ events: ['elicitation/create'] })
      never() {
        return respondWith({ action: 'cancel' });
      }

      @OnElicitation('shop')
      ask(): never {
        throw new Error('not reached');
      }
    }
    const clients = await startClients(await shop({ era }), [Handler]);
    expect(textOf(await clients.client().callTool({ name: 'ask' }))).toBe('{"action":"cancel"}');
    await clients.close();
  });

  it.each(ERAS)('refuses a mutation that makes no question of a question (%s)', async era => {
    const asked: unknown[] = [];
    @Injectable()
    class Handler {
      @Mutator({ events: ['elicitation/create'] })
      breaks() {
        return { message: 7 };
      }

      @OnElicitation('shop')
      ask(params: unknown) {
        asked.push(params);
        return { action: 'accept', content: {} };
      }
    }
    const clients = await startClients(await shop({ era }), [Handler]);
    const outcome = clients.client().callTool({ name: 'ask' });
    if (era === 'modern')
      await expect(outcome).rejects.toMatchObject({ code: -32603, data: { failedInterceptor: 'breaks' } });
    else expect((await outcome).isError).toBe(true);
    expect(asked).toEqual([]);
    await clients.close();
  });
});
