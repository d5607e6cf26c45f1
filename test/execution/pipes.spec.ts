import {
  createParamDecorator,
  DefaultValuePipe,
  Injectable,
  ParseIntPipe,
  UsePipes,
  ValidationPipe,
  type ArgumentMetadata,
  type ExecutionContext,
  type PipeTransform,
} from '@nestjs/common';
import { IsInt, IsString, Min } from 'class-validator';
import {
  Args,
  Ctx,
  McpContext,
  McpExecutionContext,
  Prompt,
  ResourceTemplate,
  Tool,
  UriParams,
} from 'nestjs-mcp';
import { z } from 'zod';
import { anyPlatform, startApp, textOf, type TestApp } from '../fixtures/matrix.js';

class OrderDto {
  @IsString()
  product!: string;

  @IsInt()
  @Min(1)
  count!: number;

  get label() {
    return `${this.count} × ${this.product}`;
  }
}

class BulkDto {
  @IsInt()
  @Min(10, { message: 'count must be at least 10' })
  count!: number;
}

const seen: ArgumentMetadata[] = [];

@Injectable()
class RecordingPipe implements PipeTransform {
  transform(value: unknown, metadata: ArgumentMetadata) {
    seen.push(metadata);
    return value;
  }
}

const User = createParamDecorator((field: string, context: ExecutionContext) => {
  const { headers } = context.switchToHttp().getRequest<{ headers: Record<string, string> }>();
  return headers[`x-${field}`];
});

const Method = createParamDecorator((_data: unknown, context: ExecutionContext) => {
  return McpExecutionContext.create(context).getContext().method;
});

@Injectable()
class Tools {
  @Tool()
  order(@Args() order: OrderDto) {
    return order.label;
  }

  @Tool()
  @UsePipes(new ValidationPipe({ expectedType: BulkDto }))
  many(@Args() { count }: OrderDto) {
    return count;
  }

  @Tool({ inputSchema: z.object({ n: z.string(), size: z.string().optional() }) })
  parse(
    @Args('n', ParseIntPipe) n: number,
    @Args('size', new DefaultValuePipe(5), ParseIntPipe) size: number,
  ) {
    return [n, size].map(value => `${typeof value} ${value}`).join();
  }

  @Prompt()
  page(@Args('n', ParseIntPipe) n: number) {
    return `page ${n}`;
  }

  @Tool()
  whoami(@User('user') user: string, @User('age', ParseIntPipe) age: number, @Method() method: string) {
    return `${user} ${age} ${method}`;
  }

  @Tool()
  @UsePipes(RecordingPipe)
  recorded(
    @Args() _all: OrderDto,
    @Args('count') _count: number,
    @Ctx() _ctx: McpContext,
    @User() _user: string,
  ) {
    return 'recorded';
  }

  @ResourceTemplate({ uriTemplate: 'orders://{id}' })
  @UsePipes(new ParseIntPipe())
  read(@UriParams('id') id: string) {
    return typeof id;
  }
}

describe.each(anyPlatform())('pipes on %s', platform => {
  let test: TestApp;
  let client: Awaited<ReturnType<TestApp['client']>>;
  const call = (name: string, args: Record<string, unknown> = {}) =>
    client.callTool({ name, arguments: args });

  beforeAll(async () => {
    test = await startApp([Tools], {
      platform,
      configure: app =>
        app.useGlobalPipes(
          new ValidationPipe({ transform: true, whitelist: true, forbidNonWhitelisted: true }),
        ),
    });
    client = await test.client({ headers: { 'x-user': 'ada', 'x-age': '36' } });
  });
  afterAll(() => test.close());

  it('a global ValidationPipe leaves what is valid an instance of its DTO', async () => {
    expect(textOf(await call('order', { product: 'tea', count: 2 }))).toBe('2 × tea');
  });

  it('what is not valid is refused before it, and names each path', async () => {
    const result = await call('order', { product: 1, count: 0 });
    expect(result.isError).toBe(true);
    expect(textOf(result)).toMatch(/^Invalid arguments for tool "order": product: .*; count: /);
  });

  it('a refusal of ValidationPipe is a result for the model to read', async () => {
    expect(textOf(await call('many', { product: 'tea', count: 12 }))).toBe('12');
    const refused = await call('many', { product: 'tea', count: 2 });
    expect(refused).toMatchObject({ isError: true });
    expect(textOf(refused)).toBe('count must be at least 10');
  });

  it('pipes of a parameter run on it alone, in the order given', async () => {
    expect(textOf(await call('parse', { n: '7' }))).toBe('number 7,number 5');
    expect(textOf(await call('parse', { n: '7', size: '9' }))).toBe('number 7,number 9');
    const refused = await call('parse', { n: 'seven' });
    expect(refused).toMatchObject({ isError: true });
    expect(textOf(refused)).toBe('Validation failed (numeric string is expected)');
  });

  it('a refusal is -32602 for a prompt', async () => {
    await expect(client.getPrompt({ name: 'page', arguments: { n: 'x' } })).rejects.toMatchObject({
      code: -32602,
      message: 'Validation failed (numeric string is expected)',
      data: { statusCode: 400 },
    });
  });

  it('custom parameter decorators get the execution context, and pipes', async () => {
    expect(textOf(await call('whoami'))).toBe('ada 36 tools/call');
  });

  it('a pipe is told of the parameter as for a body, and never sees the context', async () => {
    seen.length = 0;
    await call('recorded', { product: 'tea', count: 1 });
    expect(seen).toEqual(
      expect.arrayContaining([
        { type: 'body', metatype: OrderDto, data: undefined },
        { type: 'body', metatype: Number, data: 'count' },
        { type: 'custom', metatype: String, data: undefined },
      ]),
    );
    expect(seen).toHaveLength(3);
  });

  it('no pipe runs on the variables of a URI', async () => {
    const { contents } = await client.readResource({ uri: 'orders://seven' });
    expect(contents[0]).toMatchObject({ text: 'string' });
  });
});
