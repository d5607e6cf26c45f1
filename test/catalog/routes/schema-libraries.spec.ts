import { Body, Controller, Get, Param, Post, Query, type PipeTransform, type Type } from '@nestjs/common';
import * as nest from '@nestjs/common';
import { APP_PIPE } from '@nestjs/core';
import { Tool } from 'nestjs-mcp';
import { createZodDto, createZodValidationPipe, ZodValidationPipe } from 'nestjs-zod';
import { z } from 'zod';
import { platforms, startApp, textOf, type TestApp } from '../../fixtures/matrix.js';

/** A second parse of its own result fails. */
const tags = z.string().transform(text => text.split(','));

class SearchDto extends createZodDto(z.object({ tags, limit: z.coerce.number().max(50).default(10) })) {}
class OrderDto extends createZodDto(z.object({ tags, note: z.string().max(5).optional() })) {}

@Controller('zod')
class ZodController {
  @Tool() @Get('search') search(@Query() { tags, limit }: SearchDto) {
    return { tags, limit };
  }
  @Tool() @Post('order/:id') order(@Param('id') id: string, @Body() { tags, note }: OrderDto) {
    return { id, tags, note };
  }
  @Tool()
  @Get('one/:id')
  one(@Param('id', new ZodValidationPipe(z.coerce.number().int().positive())) id: number) {
    return { id, type: typeof id };
  }
}

interface Row {
  readonly tool: string;
  readonly http: readonly [method: string, path: string, body?: unknown];
  readonly args: Record<string, unknown>;
}

const ROWS: readonly Row[] = [
  { tool: 'search', http: ['GET', 'search?tags=a,b'], args: { tags: 'a,b' } },
  { tool: 'search', http: ['GET', 'search?tags=a&limit=7'], args: { tags: 'a', limit: 7 } },
  { tool: 'search', http: ['GET', 'search?tags=a&limit=70'], args: { tags: 'a', limit: 70 } },
  { tool: 'search', http: ['GET', 'search'], args: {} },
  { tool: 'order', http: ['POST', 'order/7', { tags: 'a,b' }], args: { id: '7', tags: 'a,b' } },
  { tool: 'order', http: ['POST', 'order/7', { tags: 1 }], args: { id: '7', tags: 1 } },
  {
    tool: 'order',
    http: ['POST', 'order/7', { tags: 'a', note: 'much too long' }],
    args: { id: '7', tags: 'a', note: 'much too long' },
  },
  { tool: 'one', http: ['GET', 'one/7'], args: { id: 7 } },
  { tool: 'one', http: ['GET', 'one/0'], args: { id: 0 } },
];

const overHttp = async (app: TestApp, [method, path, body]: Row['http']) => {
  const response = await fetch(await app.url(path), {
    method,
    ...(body !== undefined && {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    }),
  });
  const value = (await response.json()) as { message?: string | string[]; errors?: unknown };
  const { message, errors } = value;
  if (response.ok) return { value };
  const text = [message].flat().join('; ');
  return { error: errors ? `${text}: ${JSON.stringify({ errors })}` : text };
};

const overMcp = async (app: TestApp, { tool, args }: Row) => {
  const result = await (await app.client()).callTool({ name: tool, arguments: args });
  const text = textOf(result);
  return result.isError ? { error: text } : { value: JSON.parse(text) as unknown };
};

describe.each(platforms())('a route with classes of nestjs-zod on %s', platform => {
  let app: TestApp;
  beforeAll(async () => {
    const providers = [{ provide: APP_PIPE, useClass: createZodValidationPipe() }];
    app = await startApp([], { platform, module: { controllers: [ZodController], providers } });
  });
  afterAll(() => app.close());

  it.each(ROWS)('is parsed once, as over REST: $tool $args', async row => {
    const [method, path, body] = row.http;
    const rest = await overHttp(app, [method, `/zod/${path}`, body]);
    expect(await overMcp(app, row)).toEqual(rest);
  });

  it('lists the schemas', async () => {
    const { tools } = await (await app.client()).listTools();
    const schemas = Object.fromEntries(tools.map(({ name, inputSchema }) => [name, inputSchema]));
    expect(schemas['search']).toMatchObject({
      properties: { tags: { type: 'string' }, limit: { maximum: 50, default: 10 } },
      required: ['tags'],
    });
    expect(schemas['order']?.required).toEqual(['id', 'tags']);
    expect(schemas['one']?.properties).toMatchObject({ id: { type: 'integer', exclusiveMinimum: 0 } });
  });
});

describe('a class of nestjs-zod without a pipe', () => {
  it('is checked by the server, and the value is that over REST', async () => {
    const app = await startApp([], { module: { controllers: [ZodController] } });
    const [row] = ROWS;
    const rest = await overHttp(app, ['GET', '/zod/search?tags=a,b']);
    expect(rest.value).toMatchObject({ tags: 'a,b' });
    expect(await overMcp(app, row)).toEqual(rest);
    expect((await overMcp(app, { ...row, args: { tags: 'a', limit: 70 } })).error).toMatch(/limit/);
    await app.close();
  });
});

const { StandardSchemaValidationPipe } = nest as unknown as Record<string, Type<PipeTransform> | undefined>;
/** Nest 11 has neither this pipe nor the option: there, this test has nothing to look at. */
const onNest12: (name: string, test: () => Promise<void>) => void = StandardSchemaValidationPipe
  ? it
  : name => it(`${name} (not on Nest 11)`, () => expect(StandardSchemaValidationPipe).toBeUndefined());

/** Nest 11 does not know the option. */
const checkedBy = (schema: z.ZodType) => ({ schema }) as never;

function standardController() {
  @Controller('standard')
  class StandardController {
    @Tool() @Get('search') search(@Query(checkedBy(SearchDto.schema)) query: object) {
      return query;
    }
    @Tool() @Post('order/:id') order(
      @Param('id', checkedBy(z.coerce.number())) id: number,
      @Body(checkedBy(OrderDto.schema)) body: object,
    ) {
      return { id, ...body };
    }
    @Tool() @Post('note') note(@Body('note', checkedBy(z.string().max(5))) note: string) {
      return { note };
    }
  }
  return StandardController;
}

onNest12('the schemas of parameters are parsed once by the pipe of Nest', async () => {
  const providers = [{ provide: APP_PIPE, useClass: StandardSchemaValidationPipe! }];
  const app = await startApp([], { module: { controllers: [standardController()], providers } });
  const rows: Row[] = [
    { tool: 'search', http: ['GET', 'search?tags=a,b'], args: { tags: 'a,b' } },
    { tool: 'search', http: ['GET', 'search?tags=a&limit=70'], args: { tags: 'a', limit: 70 } },
    { tool: 'order', http: ['POST', 'order/7', { tags: 'a' }], args: { id: 7, tags: 'a' } },
    { tool: 'order', http: ['POST', 'order/x', { tags: 'a' }], args: { id: 'x', tags: 'a' } },
    { tool: 'order', http: ['POST', 'order/7', {}], args: { id: 7 } },
    { tool: 'note', http: ['POST', 'note', { note: 'short' }], args: { note: 'short' } },
    { tool: 'note', http: ['POST', 'note', { note: 'too long' }], args: { note: 'too long' } },
  ];
  for (const row of rows) {
    const [method, path, body] = row.http;
    const rest = await overHttp(app, [method, `/standard/${path}`, body]);
    expect([row.args, await overMcp(app, row)]).toEqual([row.args, rest]);
  }
  await app.close();
});

onNest12('the schemas of parameters are checked without a pipe, too', async () => {
  const app = await startApp([], { module: { controllers: [standardController()] } });
  const call = (tool: string, args: Record<string, unknown>) => overMcp(app, { tool, args, http: ['', ''] });
  expect(await call('order', { id: 7, tags: 'a' })).toEqual({ value: { id: '7', tags: 'a' } });
  expect(await call('order', { id: 7 })).toEqual({ error: expect.stringMatching(/tags/) as string });
  expect(await call('note', { note: 'too long' })).toEqual({
    error: expect.stringMatching(/note/) as string,
  });
  await app.close();
});
