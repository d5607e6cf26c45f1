import { setImmediate as turnOfTheLoop } from 'node:timers/promises';
import {
  Injectable,
  Module,
  UseInterceptors,
  type CallHandler,
  type ExecutionContext,
  type INestApplication,
  type NestInterceptor,
} from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { Client } from '@modelcontextprotocol/client';
import { inputRequired } from '@modelcontextprotocol/server';
import {
  Ctx,
  inputRequest,
  InputRequiredException,
  McpContext,
  McpModule,
  Tool,
  type McpModuleOptions,
} from 'nestjs-mcp';
import { MCP_SERVERS, type McpServers } from '../../lib/module/mcp-servers.js';
import { deferred } from '../fixtures/deferred.js';
import { EventReader } from '../fixtures/event-reader.js';
import { openSession, post } from '../fixtures/raw-session.js';
import { connect, outcomeOf } from '../gateway/support.js';

const FORM = { message: 'Which?', schema: { type: 'object', properties: {} } } as const;

/** Has Nest wait for an Observable, not for the handler. */
@Injectable()
class Observing implements NestInterceptor {
  intercept(_: ExecutionContext, next: CallHandler) {
    return next.handle();
  }
}

@Injectable()
class Tools {
  readonly ended: string[] = [];
  readonly end = deferred<void>();

  @Tool()
  async ask(@Ctx() ctx: McpContext) {
    try {
      return (await ctx.elicit('one', FORM)).action;
    } finally {
      this.ended.push(String(ctx.signal.aborted));
      this.end.resolve();
    }
  }

  /** The same, while it waits. */
  @Tool()
  async manyAwaited(@Ctx() ctx: McpContext) {
    await ctx.askAll(
      Object.fromEntries(['one', 'two', 'three'].map(key => [key, inputRequest.elicit(FORM)])),
    );
  }

  /** Asks for something that the client can give, and something that it cannot. */
  @Tool()
  async unlike(@Ctx() ctx: McpContext) {
    await Promise.all([ctx.elicit('one', FORM), ctx.roots()]);
  }

  @Tool()
  again(@Ctx() ctx: McpContext) {
    if (ctx.requestState()) return 'called again';
    throw new InputRequiredException({ requestState: 'once' });
  }

  /** Has something to do when it ends, which takes some turns of the event loop. */
  @Tool()
  cleanUp(@Ctx() ctx: McpContext) {
    return this.cleaningUp(ctx);
  }

  @Tool()
  @UseInterceptors(Observing)
  cleanUpObserved(@Ctx() ctx: McpContext) {
    return this.cleaningUp(ctx);
  }

  @Tool()
  async stay(@Ctx() ctx: McpContext) {
    await ctx.elicit('one', FORM).catch(() => undefined);
    await new Promise(() => undefined);
  }

  onApplicationShutdown() {
    this.ended.push('closed');
  }

  private async cleaningUp(ctx: McpContext) {
    try {
      return (await ctx.elicit('one', FORM)).action;
    } finally {
      for (let turn = 0; turn < 100; turn++) await turnOfTheLoop();
      this.ended.push('cleaned up');
    }
  }

  @Tool()
  thrown(@Ctx() ctx: McpContext) {
    const view = ctx.inputResponse('one');
    if (view.kind === 'elicit') return view.action;
    throw new InputRequiredException({ inputRequests: { one: inputRequest.elicit(FORM) } });
  }

  @Tool()
  returned(@Ctx() ctx: McpContext) {
    const view = ctx.inputResponse('one');
    if (view.kind === 'elicit') return view.action;
    const elicit = inputRequired.elicit({ message: FORM.message, requestedSchema: FORM.schema });
    return inputRequired({ inputRequests: { one: elicit } });
  }

  /** Asks for more at a time than one session may have open. */
  @Tool()
  many(@Ctx() ctx: McpContext) {
    if (ctx.inputResponses) return 'answered';
    const keys = ['one', 'two', 'three'];
    throw new InputRequiredException({
      inputRequests: Object.fromEntries(keys.map(key => [key, inputRequest.elicit(FORM)])),
    });
  }
}

describe('a call of a 2025-era client that waits for an answer', () => {
  let app: INestApplication;
  const clients: Client[] = [];
  let answers: (() => void)[] = [];
  let asked = deferred<void>();

  const start = async (
    suspension: NonNullable<McpModuleOptions['mrtr']>['suspension'] = {},
    shutdownTimeoutMs = 10_000,
  ) => {
    @Module({
      imports: [McpModule.forRoot({ name: 'parked', version: '1', shutdownTimeoutMs, mrtr: { suspension } })],
      providers: [Tools],
    })
    class AppModule {}
    app = await NestFactory.create(AppModule, { logger: false, forceCloseConnections: true });
    await app.listen(0, '127.0.0.1');
  };
  const open = async () => {
    const client = await connect(`${await app.getUrl()}/mcp`, 'legacy', {
      capabilities: { elicitation: { form: {} } },
      prepare: one =>
        one.setRequestHandler('elicitation/create', async () => {
          const answer = deferred<void>();
          answers.push(() => answer.resolve());
          asked.resolve();
          await answer.promise;
          return { action: 'decline' };
        }),
    });
    clients.push(client);
    return client;
  };
  const isAsked = async (times: number) => {
    while (answers.length < times) {
      asked = deferred();
      await asked.promise;
    }
  };
  const pendingRequests = () =>
    app.get<McpServers>(MCP_SERVERS, { strict: false }).get(undefined)!.rounds.pendingRequests;
  const ask = (client: Client, options = {}, name = 'ask') => outcomeOf(client.callTool({ name }, options));
  const STYLES = ['ask', 'thrown', 'returned'];

  beforeEach(() => {
    answers = [];
  });
  afterEach(async () => {
    for (const client of clients.splice(0)) await client.close();
    await app.close();
  });

  describe.each(STYLES)('in the tool "%s"', name => {
    it.each([
      ['one session', { maxPerSession: 2 }, 1, 429],
      ['one address', { maxPerCaller: 2 }, 2, 429],
      ['the server', { maxTotal: 2, maxPerCaller: 3 }, 2, 503],
    ])(
      'is refused where too many of %s wait, and counted out when it ends',
      async (_, limits, count, status) => {
        await start(limits);
        const callers: Client[] = [];
        for (let one = 0; one < count; one++) callers.push(await open());
        const waiting = [0, 1].map(index => ask(callers[index % count], {}, name));
        await isAsked(2);
        expect(pendingRequests().size).toBe(2);
        expect(await ask(callers[0], {}, name)).toMatchObject({
          data: { status },
          message: expect.stringContaining('Too many calls wait'),
        });
        answers.forEach(answer => answer());
        expect(await Promise.all(waiting)).toMatchObject(Array(2).fill({ content: [{ text: 'decline' }] }));
        expect(pendingRequests().size).toBe(0);
        const again = ask(callers[0], {}, name);
        await isAsked(3);
        answers[2]();
        expect(await again).toMatchObject({ content: [{ text: 'decline' }] });
      },
    );

    it('ends where no answer comes in time', async () => {
      await start({ idleTimeoutMs: 50 });
      expect(await ask(await open(), {}, name)).toMatchObject({
        code: -32000,
        message: expect.stringContaining('did not answer in time'),
      });
      expect(pendingRequests().size).toBe(0);
    });
  });

  it.each([
    ['a session', { maxPerSession: 1 }, 429],
    ['an address', { maxPerCaller: 1 }, 429],
    ['the server', { maxTotal: 1 }, 503],
  ])('is refused with an HTTP status past the limit of %s', async (_, limits, status) => {
    await start(limits);
    const url = `${await app.getUrl()}/mcp`;
    const session = await openSession(url, { capabilities: { elicitation: {} } });
    const call = (id: number) => ({ id, method: 'tools/call', params: { name: 'ask', arguments: {} } });
    const waiting = await EventReader.open(url, session, { jsonrpc: '2.0', ...call(1) });
    expect((await waiting.message())?.message).toMatchObject({ method: 'elicitation/create' });
    const refused = await post(url, session, call(2));
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([status, '1']);
    expect(await refused.json()).toMatchObject({
      id: 2,
      error: { code: -32000, data: { statusCode: status } },
    });
    waiting.cut();
  });

  it('is refused where it asks too much at a time, and nobody is left waiting', async () => {
    await start({ maxPerSession: 2 });
    const client = await open();
    for (const name of ['many', 'manyAwaited']) {
      expect(JSON.stringify(await ask(client, {}, name))).toContain('Too many calls wait');
    }
    expect(answers).toEqual([]);
    expect(pendingRequests().size).toBe(0);
  });

  it('is asked nothing where it can be asked for one thing only', async () => {
    await start();
    expect(await ask(await open(), {}, 'unlike')).toMatchObject({ code: -32021 });
    expect(answers).toEqual([]);
    expect(pendingRequests().size).toBe(0);
  });

  it('counts where it only asks to be called again', async () => {
    await start({ maxPerSession: 1 });
    const client = await open();
    const waiting = ask(client);
    await isAsked(1);
    expect(await ask(client, {}, 'again')).toMatchObject({
      data: { status: 429 },
      message: expect.stringContaining('Too many calls wait'),
    });
    answers[0]();
    expect(await waiting).toMatchObject({ content: [{ text: 'decline' }] });
    expect(await ask(client, {}, 'again')).toMatchObject({ content: [{ text: 'called again' }] });
    expect(pendingRequests().size).toBe(0);
  });

  it('ends its handler where no answer comes in time', async () => {
    await start({ idleTimeoutMs: 50 });
    await ask(await open());
    expect(app.get(Tools).ended).toHaveLength(1);
  });

  it('ends where the client cancels it', async () => {
    await start();
    const aborting = new AbortController();
    const call = ask(await open(), { signal: aborting.signal });
    await isAsked(1);
    aborting.abort();
    await call;
    await app.get(Tools).end.promise;
    expect(pendingRequests().size).toBe(0);
  });

  it('ends where the session does', async () => {
    await start();
    const client = await open();
    void ask(client);
    await isAsked(1);
    await (client.transport as unknown as { terminateSession(): Promise<void> }).terminateSession();
    await app.get(Tools).end.promise;
    expect(pendingRequests().size).toBe(0);
  });

  it('ends where the application does', async () => {
    await start();
    void ask(await open());
    await isAsked(1);
    const tools = app.get(Tools);
    await app.close();
    expect(tools.ended).toEqual(['true', 'closed']);
  });

  it.each(['cleanUp', 'cleanUpObserved'])('is waited for where the application ends: %s', async name => {
    await start();
    void ask(await open(), {}, name);
    await isAsked(1);
    const tools = app.get(Tools);
    await app.close();
    expect(tools.ended).toEqual(['cleaned up', 'closed']);
  });

  it('is not waited for without end', async () => {
    await start({}, 1);
    void ask(await open(), {}, 'stay');
    await isAsked(1);
    const tools = app.get(Tools);
    await app.close();
    expect(tools.ended).toEqual(['closed']);
  });
});
