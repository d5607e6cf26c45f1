import { Injectable } from '@nestjs/common';
import {
  Args,
  Completion,
  Ctx,
  McpContext,
  Prompt,
  Resource,
  ResourceTemplate,
  Tool,
  UriParams,
} from 'nestjs-mcp';
import { z } from 'zod';
import { anyCell, startApp, textOf, type TestApp } from '../fixtures/matrix.js';

@Injectable()
class Shop {
  @Tool({
    description: 'Adds',
    inputSchema: z.object({ a: z.number(), b: z.number() }),
    outputSchema: z.object({ sum: z.number() }),
  })
  add(@Args() { a, b }: { a: number; b: number }) {
    return { sum: a + b };
  }

  @Tool({ title: 'Greeting', annotations: { readOnlyHint: true }, _meta: { 'example.com/x': 1 } })
  greet(@Args('name') name: string, @Ctx() ctx: McpContext) {
    return `Hello ${name} from ${ctx.era}`;
  }

  @Prompt({
    description: 'Reviews',
    argsSchema: z.object({ code: z.string(), style: z.enum(['short', 'long']).optional() }),
  })
  review(@Args() { code }: { code: string }) {
    return `Review ${code}`;
  }

  @Resource({ uri: 'config://app', mimeType: 'application/json' })
  config() {
    return { debug: false };
  }

  @ResourceTemplate({ uriTemplate: 'users://{id}/profile' })
  profile(@UriParams('id') id: string) {
    return `user ${id}`;
  }

  @Completion({ resourceTemplate: 'users://{id}/profile', argument: 'id' })
  ids(value: string) {
    return ['ada', 'alan', 'grace'].filter(id => id.startsWith(value));
  }
}

describe.each(anyCell())('handlers over $name', ({ platform, era, legacy }) => {
  let test: TestApp;
  let client: Awaited<ReturnType<TestApp['client']>>;

  beforeAll(async () => {
    test = await startApp([Shop], { platform, mcp: { legacy } });
    client = await test.client({ era });
  });
  afterAll(() => test.close());

  it('lists tools with everything that was declared', async () => {
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(['add', 'greet']);
    expect(tools[1]).toMatchObject({
      title: 'Greeting',
      annotations: { readOnlyHint: true },
      _meta: { 'example.com/x': 1 },
      inputSchema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
    });
  });

  it('calls a tool with structured output', async () => {
    const result = await client.callTool({ name: 'add', arguments: { a: 1, b: 2 } });
    expect(result.structuredContent).toEqual({ sum: 3 });
    expect(JSON.parse(textOf(result))).toEqual({ sum: 3 });
  });

  it('calls a tool with a named argument and the context', async () => {
    const result = await client.callTool({ name: 'greet', arguments: { name: 'Ada' } });
    expect(textOf(result)).toBe(`Hello Ada from ${era}`);
  });

  it('names each path of invalid arguments in a tool result', async () => {
    const result = await client.callTool({ name: 'add', arguments: { a: 'x' } });
    expect(result.isError).toBe(true);
    expect(textOf(result)).toMatch(/a: .*b: /s);
  });

  it('gets a prompt', async () => {
    const result = await client.getPrompt({ name: 'review', arguments: { code: 'x' } });
    expect(result.messages).toEqual([{ role: 'user', content: { type: 'text', text: 'Review x' } }]);
  });

  it('refuses invalid prompt arguments with -32602', async () => {
    await expect(client.getPrompt({ name: 'review', arguments: {} })).rejects.toMatchObject({ code: -32602 });
  });

  it('reads a resource and a templated one', async () => {
    const { contents } = await client.readResource({ uri: 'config://app' });
    expect(contents).toEqual([
      { uri: 'config://app', mimeType: 'application/json', text: '{"debug":false}' },
    ]);
    const profile = await client.readResource({ uri: 'users://ada%20l/profile' });
    expect(profile.contents[0]).toMatchObject({ text: 'user ada l' });
  });

  it.each([
    'users://..%2Fetc/profile',
    'users://%2e%2e/profile',
    'users://a%00b/profile',
    'users://a/b/profile',
  ])('never lets %s escape its segment', async uri => {
    await expect(client.readResource({ uri })).rejects.toThrow(/not found/i);
  });

  it('completes with a handler, and from an enumeration', async () => {
    const ids = await client.complete({
      ref: { type: 'ref/resource', uri: 'users://{id}/profile' },
      argument: { name: 'id', value: 'a' },
    });
    expect(ids.completion.values).toEqual(['ada', 'alan']);
    const styles = await client.complete({
      ref: { type: 'ref/prompt', name: 'review' },
      argument: { name: 'style', value: 's' },
    });
    expect(styles.completion.values).toEqual(['short']);
  });

  it.each([
    ['tool', () => client.callTool({ name: 'nope' })],
    ['prompt', () => client.getPrompt({ name: 'nope' })],
  ])('answers an unknown %s with -32602', async (_kind, call) => {
    await expect(call()).rejects.toMatchObject({ code: -32602 });
  });
});
