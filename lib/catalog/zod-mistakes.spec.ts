import { Injectable } from '@nestjs/common';
import { Args, McpServerRegistry, Prompt, Tool, type SchemaLike } from 'nestjs-mcp';
import * as v from 'valibot';
import { z } from 'zod';
import * as mini from 'zod/mini';
import { startApp } from '../../test/fixtures/matrix.js';

const SHAPE = { city: z.string(), days: z.number().optional() };

/** Why an application whose tool has these schemas does not start. */
async function mistake(options: { inputSchema?: SchemaLike; outputSchema?: SchemaLike }): Promise<string> {
  @Injectable()
  class Tools {
    @Tool(options)
    forecast(@Args() args: object) {
      return args;
    }
  }
  const starting = startApp([Tools]);
  const outcome = await starting.catch((error: Error) => error.message);
  if (typeof outcome === 'string') return outcome;
  await outcome.close();
  return 'it started';
}

describe('a schema that nothing can be made of stops the application:', () => {
  const ADVICE =
    'Tools.forecast: { city, days } is a raw zod shape, which is not a schema: write z.object({ city, days })';

  it('a raw zod shape as input', async () => {
    expect(await mistake({ inputSchema: SHAPE })).toBe(ADVICE);
  });

  it('a raw zod shape as output', async () => {
    expect(await mistake({ inputSchema: { type: 'object' }, outputSchema: SHAPE })).toBe(ADVICE);
  });

  it('a raw zod shape whose property is called "type"', async () => {
    expect(await mistake({ inputSchema: { type: z.string() } })).toContain('write z.object({ type })');
  });

  it('a raw shape of another library', async () => {
    expect(await mistake({ inputSchema: { city: v.string() } })).toBe(
      'Tools.forecast: { city } is a raw valibot shape, which is not a schema: write an object schema of valibot',
    );
  });

  it('zod inside JSON Schema', async () => {
    const inputSchema = { type: 'object', properties: { place: { anyOf: [z.string().min(5)] } } };
    expect(await mistake({ inputSchema })).toBe(
      'Tools.forecast: the JSON Schema holds a zod schema at properties.place.anyOf[0]: ' +
        'write the whole schema with zod, or all of it as JSON Schema',
    );
  });

  it('a raw shape of zod/mini', async () => {
    expect(await mistake({ inputSchema: { city: mini.string() } })).toBe(
      'Tools.forecast: { city } is a raw zod shape, which is not a schema: write z.object({ city }) with z of "zod", ' +
        'not "zod/mini"',
    );
  });

  it('a schema of zod/mini', async () => {
    const message =
      'Tools.forecast: schemas of "zod/mini" carry no JSON Schema: import z from "zod" instead, or pass JSON Schema';
    expect(
      await mistake({ inputSchema: mini.object({ city: mini.string() }) as unknown as SchemaLike }),
    ).toBe(message);
    const outputSchema = mini.object({ city: mini.string() }) as unknown as SchemaLike;
    expect(await mistake({ inputSchema: { type: 'object' }, outputSchema })).toBe(message);
  });

  it('a raw zod shape of a prompt', async () => {
    @Injectable()
    class Prompts {
      @Prompt({ argsSchema: SHAPE })
      plan() {
        return 'plan';
      }
    }
    await expect(startApp([Prompts])).rejects.toThrow(
      'Prompts.plan: { city, days } is a raw zod shape, which is not a schema: write z.object({ city, days })',
    );
  });
});

it('a raw zod shape is refused at run time as well', async () => {
  const test = await startApp([]);
  const added = test.app
    .get(McpServerRegistry)
    .add('tool', { name: 'late', inputSchema: SHAPE }, (args: object) => args);
  await expect(added).rejects.toThrow('write z.object({ city, days })');
  await test.close();
});

it('JSON Schema with a property that is called as a mark of schemas is fine', async () => {
  const inputSchema = { type: 'object', properties: { '~standard': { type: 'object' } } };
  expect(await mistake({ inputSchema })).toBe('it started');
});
