import { Injectable, Module } from '@nestjs/common';
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/server';
import { Ctx, inputRequest, InputRequiredException, McpContext, McpModule, Tool } from 'nestjs-mcp';
import type { McpServerInstance } from '../../lib/server/mcp-server-instance.js';
import { OpenReplies } from '../../lib/protocol/running-calls.js';
import { gateStdio } from '../../lib/transports/stdio/stdio-gate.js';
import { messageOf, send } from '../fixtures/raw-client.js';
import { connect, listen, outcomeOf, type Running } from '../gateway/support.js';

const NO_MAPS: [string, unknown][] = [
  ['a list', []],
  ['a text', 'yes'],
  ['a number', 7],
  ['true', true],
  ['null', null],
];

const FORM = inputRequest.elicit({ message: 'Which?', schema: { type: 'object', properties: {} } });
const SAMPLE = inputRequest.sample({ messages: [], maxTokens: 5 });
const ACCEPTED = { action: 'accept', content: {} };
const SAMPLED = { role: 'assistant', model: 'm', content: { type: 'text', text: 'x' } };
const ROOTS = { roots: [{ uri: 'file:///home' }] };

@Injectable()
class Tools {
  /** Asks by exception, and says which answers it was given. */
  @Tool()
  thrown(@Ctx() ctx: McpContext) {
    if (ctx.inputResponses) return Object.keys(ctx.inputResponses).join();
    throw new InputRequiredException({
      inputRequests: { form: FORM, model: SAMPLE, roots: inputRequest.roots() },
    });
  }

  @Tool()
  form(@Ctx() ctx: McpContext) {
    if (ctx.inputResponses) return Object.keys(ctx.inputResponses).join();
    throw new InputRequiredException({ inputRequests: { form: FORM } });
  }
}

describe('answers that are malformed', () => {
  let running: Running;

  beforeAll(async () => {
    @Module({ imports: [McpModule.forRoot({ name: 'answers', version: '1' })], providers: [Tools] })
    class AppModule {}
    running = await listen(AppModule);
  });
  afterAll(() => running.app.close());

  const ask = async (inputResponses: unknown) => {
    const { result } = await send(running.url, { name: 'thrown' });
    return send(running.url, { name: 'thrown', requestState: result!.requestState, inputResponses });
  };

  it.each(NO_MAPS)('are an error where they are %s', async (_, inputResponses) => {
    expect((await ask(inputResponses)).error).toEqual({
      code: -32602,
      message: 'inputResponses must be an object',
    });
  });

  it.each(NO_MAPS)('are an error over stdio where they are %s', async (_, inputResponses) => {
    const sent: unknown[] = [];
    const received: unknown[] = [];
    const transport: Transport = {
      start: () => Promise.resolve(),
      close: () => Promise.resolve(),
      send: message => Promise.resolve(void sent.push(message)),
    };
    const gated = gateStdio(transport, { handlers: {} } as McpServerInstance, new OpenReplies(), () => false);
    gated.onmessage = message => received.push(message);
    await gated.start();

    const message = messageOf({ name: 'thrown', inputResponses }) as JSONRPCMessage;
    transport.onmessage!(message);
    // In the 2025 revisions, the name means nothing.
    const legacy = { ...message, params: { name: 'thrown', inputResponses } };
    transport.onmessage!(legacy);

    expect(sent).toMatchObject([{ id: 1, error: { code: -32602 } }]);
    expect(received).toEqual([legacy]);
  });

  it.each([
    ['a completion for a form', { form: SAMPLED }, 'elicitation/create'],
    ['folders for a form', { form: ROOTS }, 'elicitation/create'],
    ['a form for a completion', { model: ACCEPTED }, 'sampling/createMessage'],
    ['half a completion', { model: { role: 'assistant', content: 'x' } }, 'sampling/createMessage'],
    ['a form for folders', { roots: ACCEPTED }, 'roots/list'],
    ['folders without a URI', { roots: { roots: [{}] } }, 'roots/list'],
  ])('never reach a handler that asked by exception: %s', async (_, inputResponses, method) => {
    expect((await ask(inputResponses)).error).toEqual({
      code: -32602,
      message: `An answer cannot be used: it is not an answer to ${method}`,
    });
  });

  it('are told from those that answer what was asked', async () => {
    const { result } = await ask({ form: ACCEPTED, model: SAMPLED, roots: ROOTS });
    expect(result!.content![0].text).toBe('form,model,roots');
  });

  it('are an error of 2025-era clients, too', async () => {
    const client = await connect(running.url, 'legacy', {
      capabilities: { elicitation: { form: {} } },
      // A handler of its own kind would not let it out.
      prepare: one => (one.fallbackRequestHandler = () => Promise.resolve(SAMPLED)),
    });
    expect(await outcomeOf(client.callTool({ name: 'form' }))).toMatchObject({ code: -32602 });
    await client.close();
  });
});
