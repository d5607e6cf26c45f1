import { Injectable } from '@nestjs/common';
import { Args, Ctx, McpContext, Prompt, Resource, Tool } from 'nestjs-mcp';
import { expectToolError, jsonOf, textOf } from 'nestjs-mcp/testing';
import { startApp, type TestApp } from '../../test/fixtures/matrix.js';

interface Order {
  readonly id: number;
}

const SCHEMA = { type: 'object', properties: { id: { type: 'integer' } }, required: ['id'] } as const;

@Injectable()
class Orders {
  @Tool({ name: 'find_order', inputSchema: SCHEMA, outputSchema: SCHEMA })
  find(@Args() { id }: Order): Order {
    return { id };
  }

  @Tool({ inputSchema: SCHEMA })
  text(@Args() { id }: Order): Order {
    return { id };
  }

  @Tool()
  refuse() {
    return { isError: true, content: [{ type: 'text', text: 'Order 7 does not exist' }] };
  }

  @Tool()
  two(@Ctx() ctx: McpContext) {
    const picture = { type: 'image', data: 'aa', mimeType: 'image/png' };
    return { content: [{ type: 'text', text: ctx.era }, picture, { type: 'text', text: 'two' }] };
  }

  @Prompt()
  greeting() {
    return 'Say hello';
  }

  @Resource({ uri: 'orders://about' })
  about() {
    return 'All orders';
  }

  plain() {}
}

describe.each(['modern', 'legacy'] as const)('results of a test client, for %s clients', era => {
  let app: TestApp;
  beforeAll(async () => (app = await startApp([Orders])));
  afterAll(() => app.close());

  it('are called by the method, and read as text and as JSON', async () => {
    const client = await app.client({ era });
    const found = jsonOf(await client.call(Orders, 'find', { id: 7 }));
    expect(found.id.toFixed()).toBe('7');
    // @ts-expect-error the compiler knows what the method returns
    expect(found.name).toBeUndefined();
    expect(jsonOf<Order>(await client.callTool({ name: 'find_order', arguments: { id: 9 } }))).toEqual({
      id: 9,
    });
    expect(jsonOf(await client.call(Orders, 'text', { id: 8 }))).toEqual({ id: 8 });
    expect(textOf(await client.call(Orders, 'two'))).toBe(`${era}\ntwo`);
    expect(textOf(await client.getPrompt({ name: 'greeting' }))).toBe('Say hello');
    expect(textOf(await client.readResource({ uri: 'orders://about' }))).toBe('All orders');
  });

  it('are checked for an error', async () => {
    const client = await app.client({ era });
    const refused = await client.call(Orders, 'refuse');
    expect(expectToolError(refused)).toBe('Order 7 does not exist');
    expect(expectToolError(refused, /order \d/i)).toBe('Order 7 does not exist');
    expect(() => expectToolError(refused, 'paid')).toThrow('The tool failed in another way than paid');
    const two = await client.call(Orders, 'two');
    expect(() => expectToolError(two)).toThrow('The tool succeeded');
    expect(() => jsonOf(refused)).toThrow('The tool failed: Order 7 does not exist');
    expect(() => jsonOf(two)).toThrow('its text is no JSON');
    // @ts-expect-error the compiler knows the arguments
    expectToolError(await client.call(Orders, 'find', { id: 'seven' }), 'id');
    expect(() => client.call(Orders, 'plain')).toThrow('Orders.plain has no @Tool()');
  });
});
