import { Injectable, type Type } from '@nestjs/common';
import { IsInt, IsString } from 'class-validator';
import { Args, Ctx, McpContext, McpServerRegistry, Prompt, Tool } from 'nestjs-mcp';
import { startApp, textOf, type TestApp } from '../../test/fixtures/matrix.js';

interface PayDto {
  amount: number;
}

class OrderDto {
  @IsString()
  item!: string;

  @IsInt()
  count!: number;
}

/** Why an application with these handlers does not start. */
async function mistake(handlers: Type): Promise<string> {
  let running: TestApp;
  try {
    running = await startApp([handlers]);
  } catch (error) {
    return (error as Error).message;
  }
  await running.close();
  return 'it started';
}

const UNCHECKED = 'its arguments have no schema, so they would not be checked: ';
const NOT_AT_RUN_TIME =
  'parameter 1 has a type that does not exist at run time: an interface, a type alias or, with swc, a class after ' +
  '"import type". Use a class with class-validator decorators, or declare ';

/** A class with one method, and the types of parameters that a compiler wrote for it. */
function compiled(types: unknown[] | undefined, decorate: (prototype: object) => void): Type {
  class Tools {
    pay(pay: PayDto) {
      return pay.amount;
    }
  }
  if (types) Reflect.defineMetadata('design:paramtypes', types, Tools.prototype, 'pay');
  decorate(Tools.prototype);
  Tool()(Tools.prototype, 'pay', Object.getOwnPropertyDescriptor(Tools.prototype, 'pay')!);
  return Tools;
}

describe('a handler whose arguments nobody checks stops the application:', () => {
  it('a tool that takes an interface', async () => {
    @Injectable()
    class Tools {
      @Tool()
      pay(@Args() pay: PayDto) {
        return pay.amount;
      }
    }
    expect(await mistake(Tools)).toBe(
      `Tools.pay: ${UNCHECKED}${NOT_AT_RUN_TIME}"inputSchema" ({ type: 'object' } takes anything)`,
    );
  });

  it('a prompt that takes an interface', async () => {
    @Injectable()
    class Prompts {
      @Prompt()
      remind(@Args() pay: PayDto) {
        return `Pay ${pay.amount}`;
      }
    }
    expect(await mistake(Prompts)).toBe(
      `Prompts.remind: ${UNCHECKED}${NOT_AT_RUN_TIME}"argsSchema" ({ type: 'object' } takes anything)`,
    );
  });

  it('a tool whose undecorated parameter is an interface', async () => {
    @Injectable()
    class Tools {
      @Tool()
      pay(pay: PayDto, _ctx: McpContext) {
        return pay.amount;
      }
    }
    expect(await mistake(Tools)).toContain(`Tools.pay: ${UNCHECKED}${NOT_AT_RUN_TIME}`);
  });

  it.each([
    ['with @Args()', (prototype: object) => Args()(prototype, 'pay', 0)],
    ['without a decorator', () => undefined],
  ])('a build without metadata, %s', async (_, decorate) => {
    expect(await mistake(compiled(undefined, decorate))).toBe(
      `Tools.pay: ${UNCHECKED}the build emits no types of parameters. Set "emitDecoratorMetadata" in tsconfig.json and ` +
        'compile with tsc or swc, because tsx and esbuild cannot emit them, or declare "inputSchema" ' +
        "({ type: 'object' } takes anything)",
    );
  });

  it.each([
    ['with @Args()', (prototype: object) => Args()(prototype, 'pay', 0)],
    ['without a decorator', () => undefined],
  ])('a class after "import type", for which tsc emits Function, %s', async (_, decorate) => {
    expect(await mistake(compiled([Function], decorate))).toBe(
      `Tools.pay: ${UNCHECKED}the class of parameter 1 is imported with "import type", so it does not exist at run ` +
        'time. Write "import" without "type", or declare "inputSchema" ({ type: \'object\' } takes anything)',
    );
  });

  it.each([
    [undefined, 'the build emits no types of parameters'],
    [[Function], 'the class of the argument "pay" is imported with "import type"'],
  ])('a named argument of type %p', async (types, cause) => {
    const tools = compiled(types, prototype => Args('pay')(prototype, 'pay', 0));
    expect(await mistake(tools)).toContain(
      `Tools.pay: the type of its argument "pay" is unknown, so it would not be checked: ${cause}`,
    );
  });
});

describe('parameters without a decorator stop the application, which says what to write:', () => {
  it('one beside a parameter that has a decorator', async () => {
    @Injectable()
    class Tools {
      @Tool()
      pay(pay: OrderDto, @Ctx() _ctx: McpContext) {
        return pay.item;
      }
    }
    expect(await mistake(Tools)).toBe('Tools.pay: parameter 1 has no decorator; write @Args() pay: OrderDto');
  });

  it('one beside a named argument', async () => {
    @Injectable()
    class Tools {
      @Tool()
      pay(@Args('to') to: string, pay: OrderDto, _limit = 5) {
        return to + pay.item;
      }
    }
    expect(await mistake(Tools)).toBe(
      "Tools.pay: parameter 2 has no decorator; write @Args('pay') pay: OrderDto",
    );
  });

  it.each(['tool', 'prompt'])('a %s that takes a string', async kind => {
    const declare = kind === 'tool' ? Tool : Prompt;
    @Injectable()
    class CatalogTools {
      @declare()
      search(query: string) {
        return query;
      }
    }
    expect(await mistake(CatalogTools)).toBe(
      "CatalogTools.search: parameter 1 has no decorator; write @Args('query') query: string",
    );
  });

  it('several, with their types', async () => {
    @Injectable()
    class Tools {
      @Tool()
      async search(
        query: string,
        limit: number,
        isNew: boolean,
        order: OrderDto,
        tags: string[],
        ctx: McpContext,
      ) {
        return [query, limit, isNew, order, tags, ctx.method];
      }
    }
    expect(await mistake(Tools)).toBe(
      'Tools.search: parameters 1, 2, 3, 4, 5, 6 have no decorator; ' +
        "write @Args('query') query: string, @Args('limit') limit: number, @Args('isNew') isNew: boolean, " +
        "@Args('order') order: OrderDto, @Args('tags') tags, @Ctx() ctx: McpContext",
    );
  });

  it('the context as the first', async () => {
    @Injectable()
    class Tools {
      @Tool()
      whoami(ctx: McpContext) {
        return ctx.method;
      }
    }
    expect(await mistake(Tools)).toBe(
      'Tools.whoami: parameter 1 has no decorator; write @Ctx() ctx: McpContext',
    );
  });
});

describe('arguments that a signature does not name', () => {
  @Injectable()
  class Handlers {
    @Tool()
    order(order: OrderDto, ctx: McpContext) {
      return `${order.count} ${order.item} by ${ctx.method}, ${order instanceof OrderDto}`;
    }

    @Tool({ inputSchema: { type: 'object' } })
    anything(@Args() args: Record<string, unknown>) {
      return JSON.stringify(args);
    }

    @Tool()
    nothing() {
      return 'nothing';
    }

    @Tool()
    context(@Ctx() ctx: McpContext) {
      return ctx.method;
    }

    @Prompt()
    greet() {
      return 'nothing';
    }
  }

  let app: TestApp;
  beforeAll(async () => (app = await startApp([Handlers])));
  afterAll(() => app.close());

  const schemaOf = async (name: string) => {
    const { tools } = await (await app.client()).listTools();
    return tools.find(tool => tool.name === name)?.inputSchema;
  };

  it('are those of the class that the first parameter is, without a decorator', async () => {
    const client = await app.client();
    const call = (args: object) => client.callTool({ name: 'order', arguments: { ...args } });
    expect(textOf(await call({ item: 'lamp', count: 2 }))).toBe('2 lamp by tools/call, true');
    expect(textOf(await call({ item: 'lamp', count: 'two' }))).toContain('count must be an integer');
  });

  it('are anything where the schema says so', async () => {
    expect(await schemaOf('anything')).toEqual({ type: 'object' });
    const result = await (
      await app.client()
    ).callTool({ name: 'anything', arguments: { amount: 'a million' } });
    expect(textOf(result)).toBe('{"amount":"a million"}');
  });

  it.each(['context', 'nothing'])('are none where a method has no parameters for them: %s', async name => {
    expect(await schemaOf(name)).toEqual({ type: 'object', properties: {} });
  });

  it('are dropped where a method has no parameters', async () => {
    const tool = jest.spyOn(app.app.get(Handlers), 'nothing');
    const prompt = jest.spyOn(app.app.get(Handlers), 'greet');
    const client = await app.client();
    await client.callTool({ name: 'nothing', arguments: { admin: true } });
    await client.getPrompt({ name: 'greet', arguments: { admin: 'true' } });
    expect(tool).toHaveBeenCalledWith({}, expect.anything());
    expect(prompt).toHaveBeenCalledWith({}, expect.anything());
    const { prompts } = await client.listPrompts();
    expect(prompts).toEqual([{ name: 'greet' }]);
  });

  it.each(['add', 'replace'] as const)('stop %s() of a function that takes some', async verb => {
    const registry = app.app.get(McpServerRegistry);
    const change = (kind: 'tool' | 'prompt', options: object, handler: (...args: never[]) => unknown) =>
      registry[verb](kind, { name: verb === 'add' ? 'added' : 'nothing', ...options }, handler);
    await expect(change('tool', {}, (pay: PayDto) => pay.amount)).rejects.toThrow(
      'its function takes arguments without a schema, so they would not be checked: declare "inputSchema" ({ type: \'object\' } takes anything)',
    );
    await expect(change('prompt', {}, (pay: PayDto) => `${pay.amount}`)).rejects.toThrow(
      'declare "argsSchema" ({ type: \'object\' } takes anything)',
    );
  });

  it('are none for an added function without parameters, and anything where its schema says so', async () => {
    const registry = app.app.get(McpServerRegistry);
    await registry.add('tool', { name: 'ping' }, () => 'pong');
    await registry.add('tool', { name: 'any', inputSchema: { type: 'object' } }, (args: object) => args);
    expect(await schemaOf('ping')).toEqual({ type: 'object', properties: {} });
    expect(await schemaOf('any')).toEqual({ type: 'object' });
    const client = await app.client();
    expect(textOf(await client.callTool({ name: 'ping', arguments: { x: 1 } }))).toBe('pong');
    expect(textOf(await client.callTool({ name: 'any', arguments: { x: 1 } }))).toBe('{"x":1}');
  });
});
