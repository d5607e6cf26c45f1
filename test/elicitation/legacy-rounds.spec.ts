import { randomBytes } from 'node:crypto';
import { Injectable, Module } from '@nestjs/common';
import { ProtocolError, type Client, type StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Ctx, inputRequest, InputRequiredException, McpContext, McpModule, Prompt, Tool } from 'nestjs-mcp';
import { LogSpy } from '../fixtures/log-spy.js';
import { connect, listen, outcomeOf, type Running } from '../gateway/support.js';

const FORM = { message: 'Which?', schema: { type: 'object', properties: {} } } as const;

@Injectable()
class Tools {
  /** Remembers more than could travel with a client. */
  @Tool()
  async remembers(@Ctx() ctx: McpContext) {
    const drawn = await ctx.step('large', () => randomBytes(40_000).toString('base64'));
    if (!ctx.inputResponses) {
      throw new InputRequiredException({
        inputRequests: { one: inputRequest.elicit(FORM) },
        requestState: { drawn, at: new Date(0) },
      });
    }
    const state = ctx.requestState<{ drawn: string; at: unknown }>();
    return JSON.stringify([state?.drawn === drawn, state?.at, ctx.round]);
  }

  /** Leaves a state in its first round only. */
  @Tool()
  forgets(@Ctx() ctx: McpContext) {
    const seen = [ctx.requestState() ?? null, ctx.inputResponses ? Object.keys(ctx.inputResponses) : []];
    if (ctx.inputResponse('two').kind !== 'missing') return JSON.stringify(seen);
    const isFirst = ctx.inputResponses === undefined;
    throw new InputRequiredException({
      inputRequests: { [isFirst ? 'one' : 'two']: inputRequest.elicit(FORM) },
      ...(isFirst && { requestState: 'first' }),
    });
  }
}

/** Asks by exception, and has been called off. */
@Injectable()
class Prompts {
  @Prompt()
  thrown(@Ctx() ctx: McpContext) {
    if (ctx.inputResponses) return 'answered';
    throw new InputRequiredException({ inputRequests: { one: inputRequest.elicit(FORM) } });
  }

  @Prompt()
  async awaited(@Ctx() ctx: McpContext) {
    return (await ctx.elicit('one', FORM)).action;
  }

  @Tool()
  pausing() {
    throw new InputRequiredException({ requestState: 'again' });
  }
}

describe('the rounds of a call whose client knows none', () => {
  let running: Running;
  let client: Client;
  const elicited = jest.fn();

  beforeAll(async () => {
    @Module({
      imports: [McpModule.forRoot({ name: 'legacy', version: '1', mrtr: { ttlSeconds: 1 } })],
      providers: [Tools, Prompts],
    })
    class AppModule {}
    running = await listen(AppModule);
    client = await connect(running.url, 'legacy', {
      capabilities: { elicitation: { form: {} } },
      prepare: one =>
        one.setRequestHandler('elicitation/create', () => {
          elicited();
          return { action: 'accept', content: {} };
        }),
    });
  });
  afterEach(() => {
    jest.restoreAllMocks();
    elicited.mockReset();
  });
  afterAll(async () => {
    await client.close();
    await running.app.close();
  });
  const call = (name: string) => outcomeOf(client.callTool({ name }));

  it('remember what is too much to travel with a client, as JSON, however long the client takes', async () => {
    const { now } = Date;
    elicited.mockImplementation(() => jest.spyOn(Date, 'now').mockImplementation(() => now() + 3_600_000));
    expect(await call('remembers')).toMatchObject({
      content: [{ text: JSON.stringify([true, new Date(0).toJSON(), 1]) }],
    });
  });

  it.each(['thrown', 'awaited'])(
    'end with an error of the client, and not one of the server (%s)',
    async name => {
      elicited.mockImplementation(() => {
        throw new ProtocolError(-31_999, 'no');
      });
      const outcome = await outcomeOf(client.getPrompt({ name }));
      expect(outcome).toMatchObject({
        code: -32603,
        message: expect.stringContaining('answered with an error: no'),
      });
    },
  );

  it.each(['asking', 'pausing'])('are no error where they are called off (%s)', async what => {
    const logs = new LogSpy();
    running.app.useLogger(logs);
    const abort = new AbortController();
    elicited.mockImplementation(() => abort.abort());
    const called =
      what === 'asking'
        ? client.getPrompt({ name: 'thrown' }, { signal: abort.signal })
        : client.callTool({ name: 'pausing' }, { signal: abort.signal });
    if (what === 'pausing') abort.abort();
    await expect(called).rejects.toThrow();
    // Answered once the call before has ended, for a connection has one message after the other.
    await call('remembers');
    expect(logs.errors).toEqual([]);
  });

  it('are none that the client sends itself', async () => {
    const own = { inputResponses: { two: { action: 'accept', content: {} } }, requestState: 'own' };
    const sent = { method: 'tools/call', params: { name: 'forgets', arguments: {}, ...own } } as const;
    const response = await fetch(running.url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': '2025-11-25',
        'mcp-session-id': (client.transport as StreamableHTTPClientTransport).sessionId!,
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 'own', ...sent }),
    });
    const reader = response.body!.getReader();
    const { value } = await reader.read();
    await reader.cancel();
    expect(Buffer.from(value).toString()).toContain('elicitation/create');
  });

  it('remember what the latest one has left, and nothing of those before', async () => {
    expect(await call('forgets')).toMatchObject({ content: [{ text: JSON.stringify([null, ['two']]) }] });
  });
});
