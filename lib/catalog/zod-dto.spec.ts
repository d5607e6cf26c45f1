import { Injectable } from '@nestjs/common';
import { APP_PIPE } from '@nestjs/core';
import { Args, Prompt, Tool } from 'nestjs-mcp';
import { createZodDto, createZodValidationPipe } from 'nestjs-zod';
import { z } from 'zod';
import * as z3 from 'zod/v3';
import { startApp, textOf, type TestApp } from '../../test/fixtures/matrix.js';

/** A second parse of its own result fails. */
const tags = z.string().transform(text => text.split(','));

class SearchDto extends createZodDto(z.object({ tags, limit: z.number().max(50).default(10) })) {}
class ResultDto extends createZodDto(z.object({ limit: z.number().default(5) })) {}
class PageDto extends createZodDto(z.object({ page: z.coerce.number() })) {}
class OtherDto extends createZodDto(z.object({ limit: z.number().max(5) })) {}

@Injectable()
class Handlers {
  @Tool()
  whole(@Args() { tags, limit }: SearchDto) {
    return JSON.stringify([tags, limit]);
  }

  @Tool()
  named(@Args('search') search: SearchDto, @Args('by') by: string) {
    return JSON.stringify([search.tags, search.limit, by]);
  }

  @Tool({ inputSchema: SearchDto, outputSchema: ResultDto })
  declared(@Args() args: SearchDto) {
    return { limit: args.tags[0] === 'none' ? undefined : args.limit };
  }

  @Tool({ inputSchema: z.object({ limit: z.number() }) })
  twice(@Args() { limit }: OtherDto) {
    return String(limit);
  }

  @Prompt()
  page(@Args() { page }: PageDto) {
    return `${typeof page} ${page}`;
  }
}

const searchSchema = {
  type: 'object',
  properties: { tags: { type: 'string' }, limit: { type: 'number', maximum: 50, default: 10 } },
  required: ['tags'],
};

describe.each([
  ['without a pipe', []],
  ['beside the pipe of nestjs-zod', [{ provide: APP_PIPE, useClass: createZodValidationPipe() }]],
])('a DTO of nestjs-zod, %s,', (_, providers) => {
  let app: TestApp;
  beforeAll(async () => (app = await startApp([Handlers], { module: { providers } })));
  afterAll(() => app.close());

  const call = async (name: string, args: Record<string, unknown>) =>
    textOf(await (await app.client()).callTool({ name, arguments: args }));

  it('gives its schema to clients', async () => {
    const { tools } = await (await app.client()).listTools();
    const tool = (name: string) => tools.find(one => one.name === name);
    expect(tool('whole')?.inputSchema).toEqual(searchSchema);
    expect(tool('named')?.inputSchema.properties).toEqual({ search: searchSchema, by: { type: 'string' } });
    expect(tool('declared')?.inputSchema).toEqual(searchSchema);
    expect(tool('declared')?.outputSchema).toEqual({
      type: 'object',
      properties: { limit: { type: 'number', default: 5 } },
      required: ['limit'],
      additionalProperties: false,
    });
  });

  it('is parsed once', async () => {
    expect(await call('whole', { tags: 'a,b' })).toBe('[["a","b"],10]');
    expect(await call('named', { search: { tags: 'a,b', limit: 3 }, by: 'name' })).toBe(
      '[["a","b"],3,"name"]',
    );
    expect(await call('declared', { tags: 'a' })).toBe('{"limit":10}');
    expect(await call('declared', { tags: 'none' })).toBe('{"limit":5}');
  });

  it('refuses what its schema refuses', async () => {
    expect(await call('whole', { tags: 'a', limit: 51 })).toMatch(
      /^Invalid arguments for tool "whole": limit: /,
    );
    expect(await call('named', { search: { tags: 1 }, by: 'name' })).toContain('search.tags: ');
  });

  it('takes the texts of a prompt', async () => {
    const { messages } = await (await app.client()).getPrompt({ name: 'page', arguments: { page: '2' } });
    expect(messages[0]?.content).toMatchObject({ text: 'number 2' });
  });
});

it('a pipe of nestjs-zod checks a parameter whose schema is not that of the tool', async () => {
  const providers = [
    { provide: APP_PIPE, useClass: createZodValidationPipe({ strictSchemaDeclaration: true }) },
  ];
  const app = await startApp([Handlers], { module: { providers } });
  const client = await app.client();
  const call = (name: string, args: Record<string, unknown>) => client.callTool({ name, arguments: args });
  expect(textOf(await call('twice', { limit: 5 }))).toBe('5');
  expect((await call('twice', { limit: 6 })).isError).toBe(true);
  expect(textOf(await call('whole', { tags: 'a' }))).toBe('[["a"],10]');
  await app.close();
});

it('a DTO of nestjs-zod with a schema of zod 3 stops the application', async () => {
  class OldDto extends createZodDto(z3.z.object({ a: z3.z.string() })) {}
  @Injectable()
  class Tools {
    @Tool()
    old(@Args() { a }: OldDto) {
      return a;
    }
  }
  await expect(startApp([Tools])).rejects.toThrow(/^Tools\.old: the zod schema carries no JSON Schema: /);
});
