import type { Client } from '@modelcontextprotocol/client';
import { Bare, GreetingTools } from './parameters.js';
import { startShop } from './support.js';

// The tables of docs/parameters.md.
let shop: Awaited<ReturnType<typeof startShop>>;
let client: Client;

beforeAll(async () => {
  shop = await startShop(
    { providers: [Bare, GreetingTools] },
    { headers: { 'accept-language': 'de' } },
  );
  ({ client } = shop);
});

afterAll(() => shop.close());

it('decorated parameters get what their decorators say', async () => {
  const { content } = await client.callTool({
    name: 'greet',
    arguments: { name: 'Ada', loud: true },
  });
  expect(content).toMatchObject([
    { text: expect.stringMatching(/^HALLO ADA, .+!$/) },
  ]);
});

describe('without decorators', () => {
  it('a tool gets the arguments and the context', async () => {
    const { content } = await client.callTool({
      name: 'tool',
      arguments: { name: 'Ada' },
    });
    expect(content).toMatchObject([{ text: 'Ada, tools/call' }]);
  });

  it('a prompt gets the arguments and the context', async () => {
    const { messages } = await client.getPrompt({
      name: 'prompt',
      arguments: { name: 'Ada' },
    });
    expect(messages[0].content).toMatchObject({ text: 'Ada, prompts/get' });
  });

  it.each([
    ['users://7', '7, resources/read'],
    ['config://app', 'undefined, resources/read'],
  ])('%s is read with %s', async (uri, text) => {
    const { contents } = await client.readResource({ uri });
    expect(contents).toMatchObject([{ text }]);
  });

  it('a completion gets the text, the other arguments and the context', async () => {
    const { completion } = await client.complete({
      ref: { type: 'ref/prompt', name: 'prompt' },
      argument: { name: 'name', value: 'A' },
      context: { arguments: { other: 'B' } },
    });
    expect(completion.values).toEqual(['A, 1, completion/complete']);
  });
});
