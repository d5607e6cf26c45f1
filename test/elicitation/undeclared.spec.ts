import { Injectable, Module } from '@nestjs/common';
import type { ClientCapabilities } from '@modelcontextprotocol/client';
import { Args, Ctx, inputRequest, InputRequiredException, McpContext, McpModule, Tool } from 'nestjs-mcp';
import { connect, listen, outcomeOf, type Running } from '../gateway/support.js';

const QUESTIONS = {
  form: inputRequest.elicit({ message: 'Where?', schema: { type: 'object', properties: {} } }),
  page: inputRequest.elicitUrl({ message: 'Go', url: 'https://example.com/' }),
  model: inputRequest.sample({ messages: [], maxTokens: 5 }),
  tools: inputRequest.sample({ messages: [], maxTokens: 5, tools: [] }),
  roots: inputRequest.roots(),
};

@Injectable()
class Tools {
  @Tool()
  async ask(@Args('what') what: string, @Ctx() ctx: McpContext) {
    await ctx.askAll({ [what]: QUESTIONS[what as keyof typeof QUESTIONS] });
  }

  @Tool()
  askByException() {
    const { form, roots } = QUESTIONS;
    throw new InputRequiredException({ inputRequests: { form, roots } });
  }
}

describe('an error for a capability that the client has not declared', () => {
  let running: Running;

  beforeAll(async () => {
    @Module({ imports: [McpModule.forRoot({ name: 'undeclared', version: '1' })], providers: [Tools] })
    class AppModule {}
    running = await listen(AppModule);
  });
  afterAll(() => running.app.close());

  it.each<[string, ClientCapabilities, string, object]>([
    ['form', {}, '"elicitation.form"', { elicitation: { form: {} } }],
    ['page', { elicitation: {} }, '"elicitation.url"', { elicitation: { url: {} } }],
    ['model', {}, '"sampling"', { sampling: {} }],
    ['tools', { sampling: {} }, '"sampling.tools"', { sampling: { tools: {} } }],
    ['roots', {}, '"roots"', { roots: {} }],
  ])('names it: %s', async (what, capabilities, name, requiredCapabilities) => {
    const client = await connect(running.url, 'modern', { capabilities });
    const outcome = await outcomeOf(client.callTool({ name: 'ask', arguments: { what } }));
    expect(outcome).toEqual({
      code: -32021,
      message: `The call needs input for which the client has not declared the capability ${name}`,
      data: { requiredCapabilities },
    });
    await client.close();
  });

  it('names all that are missing', async () => {
    const client = await connect(running.url, 'modern');
    expect(await outcomeOf(client.callTool({ name: 'askByException' }))).toMatchObject({
      code: -32021,
      message: expect.stringMatching(/the capabilities "elicitation\.form", "roots"$/),
    });
    await client.close();
  });
});
