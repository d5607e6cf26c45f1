import { Injectable, ParseIntPipe, type Type } from '@nestjs/common';
import { Transform } from 'class-transformer';
import { IsArray, IsBoolean, IsIn, IsInt, IsNumber, IsOptional, IsString, Max } from 'class-validator';
import { Args, Prompt } from 'nestjs-mcp';
import { z } from 'zod';
import { startApp, type TestApp } from '../../test/fixtures/matrix.js';

class ReportDto {
  @IsInt()
  @Max(10)
  pages!: number;

  @IsBoolean()
  draft!: boolean;

  @IsOptional()
  @IsNumber()
  ratio?: number;

  @IsOptional()
  @IsIn([1, 2])
  sides?: number;

  @IsString()
  zip!: string;

  @IsOptional()
  @IsArray()
  @Transform(({ value }: { value: string }) => value.split(','))
  tags?: string[];

  @IsOptional()
  @IsInt()
  @Transform(({ value }: { value: string }) => value.length)
  length?: number;
}

const coerced = z.object({
  pages: z.coerce.number().min(5),
  draft: z.stringbool(),
  tags: z.preprocess(value => String(value).split(','), z.array(z.string())),
  side: z.coerce.number().pipe(z.literal(2)),
});

@Injectable()
class Prompts {
  @Prompt()
  report(@Args() report: ReportDto) {
    return JSON.stringify(report);
  }

  @Prompt({ argsSchema: coerced })
  coerced(@Args() args: z.output<typeof coerced>) {
    return JSON.stringify(args);
  }

  @Prompt()
  repeat(@Args('times') times: number, @Args('loud') loud: boolean, @Args('raw', ParseIntPipe) raw: number) {
    return JSON.stringify([times, loud, raw]);
  }
}

describe('the arguments of a prompt, which are texts on the wire,', () => {
  let app: TestApp;
  beforeAll(async () => (app = await startApp([Prompts])));
  afterAll(() => app.close());

  const get = async (name: string, args: Record<string, string>) => {
    const { messages } = await (await app.client()).getPrompt({ name, arguments: args });
    return JSON.parse((messages[0].content as { text: string }).text) as unknown;
  };

  it('become the numbers and booleans of a DTO, but for what it transforms itself', async () => {
    const texts = {
      pages: '3',
      draft: 'false',
      ratio: '-0.5',
      sides: '2',
      zip: '01234',
      tags: 'a,b',
      length: '12345',
    };
    expect(await get('report', texts)).toEqual({
      pages: 3,
      draft: false,
      ratio: -0.5,
      sides: 2,
      zip: '01234',
      tags: ['a', 'b'],
      length: 5,
    });
  });

  it.each([
    [{ pages: 'three' }, 'pages must be an integer number'],
    [{ pages: '' }, 'pages must be an integer number'],
    [{ pages: '11' }, 'pages must not be greater than 10'],
    [{ draft: 'yes' }, 'draft must be a boolean value'],
  ])('are refused where they are none: %j', async (wrong, message) => {
    await expect(get('report', { pages: '3', draft: 'true', zip: '1', ...wrong })).rejects.toThrow(message);
  });

  it('are converted by a schema that does so', async () => {
    expect(await get('coerced', { pages: '7', draft: 'no', tags: 'a,b', side: '2' })).toEqual({
      pages: 7,
      draft: false,
      tags: ['a', 'b'],
      side: 2,
    });
  });

  it('become the numbers and booleans that are taken by name, unless pipes do that', async () => {
    expect(await get('repeat', { times: '3', loud: 'false', raw: '7' })).toEqual([3, false, 7]);
    await expect(get('repeat', { times: 'x', loud: 'false', raw: '7' })).rejects.toThrow(
      'times: must be number',
    );
  });
});

describe('a prompt that no text can call stops the application:', () => {
  const mistake = async (argsSchema: Type | object) => {
    @Injectable()
    class Prompts {
      @Prompt({ argsSchema: argsSchema as Type })
      report(@Args() args: object) {
        return JSON.stringify(args);
      }
    }
    let running: TestApp;
    try {
      running = await startApp([Prompts]);
    } catch (error) {
      return (error as Error).message;
    }
    await running.close();
    return 'it started';
  };

  class ListDto {
    @IsArray()
    @IsString({ each: true })
    tags!: string[];
  }

  const wire = "but a prompt's arguments are strings on the wire";
  it.each<[string, Type | object, string]>([
    [
      'a number of zod',
      z.object({ code: z.string(), pages: z.number().min(5).optional() }),
      `Prompts.report: its argument "pages" is of type number, ${wire}: use z.coerce.number() of zod, or take a string and convert it`,
    ],
    ['a boolean of zod', z.object({ draft: z.boolean() }), 'use z.stringbool() of zod, or'],
    [
      'a number that can be missing',
      z.object({ pages: z.number().nullable() }),
      'use z.coerce.number() of zod',
    ],
    ['a literal', z.object({ side: z.literal(2) }), 'its argument "side" is of type number'],
    [
      'a list of zod',
      z.object({ tags: z.array(z.string()) }),
      `its argument "tags" is of type array, ${wire}: take a string and convert it`,
    ],
    [
      'an integer of JSON Schema',
      { type: 'object', properties: { pages: { type: 'integer' } } },
      'its argument "pages" is of type integer',
    ],
    [
      'a choice of two types',
      {
        type: 'object',
        properties: { size: { anyOf: [{ type: 'integer' }, { $ref: '#/$defs/flag' }] } },
        $defs: { flag: { type: 'boolean' } },
      },
      'its argument "size" is of type integer or boolean',
    ],
    [
      'a list of a DTO',
      ListDto,
      `its argument "tags" is of type array, ${wire}: convert it with @Transform() of class-transformer`,
    ],
  ])('%s', async (_what, schema, sentence) => {
    expect(await mistake(schema)).toContain(sentence);
  });
});
