import 'reflect-metadata';
import { Injectable, type Type as Class } from '@nestjs/common';
import { toStandardJsonSchema } from '@valibot/to-json-schema';
import { type } from 'arktype';
import { Expose, Type } from 'class-transformer';
import {
  Equals,
  IsArray,
  IsBoolean,
  IsIn,
  IsInt,
  IsNumber,
  IsOptional,
  IsString,
  ValidateNested,
} from 'class-validator';
import * as v from 'valibot';
import { z } from 'zod';
import {
  Args,
  HeaderParam,
  McpHeader,
  mcpHeader,
  McpServerRegistry,
  Prompt,
  Resource,
  Tool,
  type SchemaLike,
  type ToolOptions,
} from 'nestjs-mcp';
import { startApp, textOf } from '../fixtures/matrix.js';

class Place {
  @McpHeader('Region')
  @IsString()
  region!: string;
}

class Target {
  @McpHeader('Urgent')
  @IsOptional()
  @IsBoolean()
  urgent?: boolean;

  @ValidateNested()
  @Type(() => Place)
  place!: Place;
}

class Order extends Place {
  @McpHeader('Priority')
  @IsInt()
  priority: number = 1;

  @McpHeader('Kind')
  @IsIn(['a', 'b'])
  kind!: string;
}

class DeepOrder {
  @ValidateNested()
  @Type(() => Target)
  target!: Target;
}

const handlerWith = (input: SchemaLike, options: ToolOptions = {}): Class => {
  @Injectable()
  class Orders {
    @Tool({ inputSchema: input, ...options })
    place() {}
  }
  return Orders;
};

async function listed(input: SchemaLike): Promise<unknown> {
  const app = await startApp([handlerWith(input)]);
  try {
    const { tools } = await (await app.client()).listTools();
    return tools[0].inputSchema.properties;
  } finally {
    await app.close();
  }
}

const refused = (handler: Class) =>
  startApp([handler]).then(
    async app => {
      await app.close();
      throw new Error('The application started');
    },
    (error: Error) => error.message,
  );

describe('declaring a header', () => {
  it('is a decorator on a property of a DTO, inherited ones included', async () => {
    expect(await listed(Order)).toMatchObject({
      region: { type: 'string', 'x-mcp-header': 'Region' },
      priority: { type: 'integer', 'x-mcp-header': 'Priority' },
      kind: { type: 'string', 'x-mcp-header': 'Kind' },
    });
  });

  it('works in a nested DTO, which stands where clients look for it', async () => {
    expect(await listed(DeepOrder)).toMatchObject({
      target: {
        properties: {
          urgent: { type: 'boolean', 'x-mcp-header': 'Urgent' },
          place: { properties: { region: { type: 'string', 'x-mcp-header': 'Region' } } },
        },
      },
    });
  });

  it('leaves the DTOs what they are', async () => {
    @Injectable()
    class Orders {
      @Tool()
      place(@Args() { target }: DeepOrder, @HeaderParam('Region') region: string) {
        return [target instanceof Target, target.place instanceof Place, region].join();
      }
    }
    const app = await startApp([Orders]);
    try {
      const client = await app.client();
      await client.listTools();
      const place = (args: object) => client.callTool({ name: 'place', arguments: { target: args } });
      expect(textOf(await place({ urgent: true, place: { region: 'eu' } }))).toBe('true,true,eu');
      expect(textOf(await place({ place: { region: 'eu', other: 1 } }))).toMatch(/target\.place\.other/);
      expect(textOf(await place({}))).toMatch(/target\.place/);
    } finally {
      await app.close();
    }
  });

  it.each<[string, SchemaLike]>([
    ['zod', z.object({ region: z.string().meta(mcpHeader('Region')) })],
    [
      'valibot',
      toStandardJsonSchema(v.object({ region: v.pipe(v.string(), v.metadata(mcpHeader('Region'))) })),
    ],
    ['arktype', type({ region: type('string').configure(mcpHeader('Region') as object) })],
    [
      'raw JSON Schema',
      { type: 'object', properties: { region: { type: 'string', 'x-mcp-header': 'Region' } } },
    ],
  ])('works in %s', async (_, input) => {
    expect(await listed(input)).toMatchObject({ region: { type: 'string', 'x-mcp-header': 'Region' } });
  });

  it('may be on a property that has another name in what the application sends', async () => {
    expect(await listed(Shown)).toMatchObject({ zone: { 'x-mcp-header': 'Zone' } });
  });

  it('may have the name of a standard header, for the prefix tells them apart', async () => {
    expect(await listed(z.object({ method: z.string().meta(mcpHeader('Method')) }))).toMatchObject({
      method: { 'x-mcp-header': 'Method' },
    });
  });
});

class NumberOrder {
  @McpHeader('Price')
  @IsNumber()
  price!: number;
}
class TwiceOrder {
  @McpHeader('Region')
  @IsString()
  from!: string;

  @McpHeader('REGION')
  @IsString()
  to!: string;
}
class NestedTwice {
  @McpHeader('region')
  @IsString()
  from!: string;

  @ValidateNested()
  @Type(() => Place)
  to!: Place;
}
class ListOrder {
  @ValidateNested({ each: true })
  @IsArray()
  @Type(() => Place)
  places!: Place[];
}
class Undecorated {
  @IsString()
  other!: string;

  @McpHeader('Region')
  declare region: string;
}
class Tree {
  @McpHeader('Region')
  @IsString()
  region!: string;

  @IsOptional()
  @ValidateNested()
  @Type(() => Tree)
  next?: Tree;
}
class Forest {
  @ValidateNested()
  @Type(() => Tree)
  tree!: Tree;
}
class Constant {
  @McpHeader('Region')
  @Equals('eu')
  region!: string;
}
class Renamed {
  @McpHeader('Region')
  @Expose({ name: 'where' })
  @IsString()
  region!: string;
}
class RenamedTwice extends Renamed {
  @IsOptional()
  @IsString()
  note?: string;
}
class RenamedParent {
  @Expose({ name: 'at' })
  @ValidateNested()
  @Type(() => Place)
  place!: Place;
}
class ArrayOrder {
  @McpHeader('Regions')
  @IsString({ each: true })
  @IsArray()
  regions!: string[];
}

const raw = (schema: object) => ({ type: 'object', properties: { region: schema } });
const named = (name: unknown) => raw({ type: 'string', 'x-mcp-header': name });

class Shown extends Place {
  @Expose({ name: 'other', toPlainOnly: true })
  @McpHeader('Zone')
  @IsString()
  zone!: string;
}

describe('a breach of the rules', () => {
  it.each<[string, SchemaLike, RegExp]>([
    [
      'a number',
      NumberOrder,
      /^Orders\.place: NumberOrder, property "price" .*"string", an "integer" or a "boolean", and has the type "number"/,
    ],
    ['a list', ArrayOrder, /property "regions" .*the type "array"/],
    ['no type', Constant, /property "region" .*no "type"/],
    [
      'two of one name, whatever the case',
      TwiceOrder,
      /property "to" .*property "from" already has the header "Region"/,
    ],
    [
      'two of one name at different depths',
      NestedTwice,
      /property "to.region" .*property "from" already has the header "region"/,
    ],
    [
      'a property of the items of a list',
      ListOrder,
      /property "places.items.region" .*only "properties" may lead to it/,
    ],
    ['a property of a class that holds itself', Forest, /Tree\.region" .*only "properties" may lead to it/],
    [
      'a property that is in no schema',
      Undecorated,
      /Undecorated\.region has @McpHeader\(\), but no class-validator/,
    ],
    [
      'a property that calls have under another name',
      Renamed,
      /Renamed\.region has @McpHeader\(\) and @Expose\(\{ name: "where" \}\)/,
    ],
    [
      'one of a parent class',
      RenamedTwice,
      /RenamedTwice\.region has @McpHeader\(\) and @Expose\(\{ name: "where" \}\)/,
    ],
    [
      'one that leads to a header',
      RenamedParent,
      /RenamedParent\.place leads to @McpHeader\(\) and has @Expose\(\{ name: "at" \}\)/,
    ],
    ['an object', raw({ type: 'object', 'x-mcp-header': 'Region' }), /property "region" .*the type "object"/],
    ['null', raw({ type: 'null', 'x-mcp-header': 'Region' }), /property "region" .*the type "null"/],
    [
      'several types',
      raw({ type: ['string', 'integer'], 'x-mcp-header': 'Region' }),
      /property "region" .*the type "\[/,
    ],
    ['an empty name', named(''), /property "region" .*a text that is not empty/],
    ['a name that is no text', named(7), /property "region" .*a text that is not empty/],
    ['a space', named('My Region'), /"My Region" is not an HTTP token/],
    ['a colon', named('Region:Primary'), /"Region:Primary" is not an HTTP token/],
    ['a letter that is not ASCII', named('Région'), /"Région" is not an HTTP token/],
    ['a control character', named('Region\t1'), /"Region\\t1" is not an HTTP token/],
    ['a line feed', named('Region\r\nX-Evil: 1'), /is not an HTTP token/],
    [
      'the root',
      { type: 'object', 'x-mcp-header': 'Region' },
      /the root of the schema .*belongs on a property/,
    ],
    ...[
      { anyOf: [raw({ type: 'string', 'x-mcp-header': 'Region' })] },
      { oneOf: [raw({ type: 'string', 'x-mcp-header': 'Region' })] },
      { allOf: [raw({ type: 'string', 'x-mcp-header': 'Region' })] },
      { not: raw({ type: 'string', 'x-mcp-header': 'Region' }) },
      { if: raw({ type: 'string', 'x-mcp-header': 'Region' }) },
      { then: raw({ type: 'string', 'x-mcp-header': 'Region' }) },
      { else: raw({ type: 'string', 'x-mcp-header': 'Region' }) },
      { additionalProperties: { type: 'string', 'x-mcp-header': 'Region' } },
      { patternProperties: { '^r': { type: 'string', 'x-mcp-header': 'Region' } } },
      { $defs: { Region: { type: 'string', 'x-mcp-header': 'Region' } } },
      { dependentSchemas: { a: raw({ type: 'string', 'x-mcp-header': 'Region' }) } },
    ].map((schema): [string, SchemaLike, RegExp] => {
      const [keyword] = Object.keys(schema);
      return [keyword, { type: 'object', ...schema }, new RegExp(`under "[$]?${keyword.replace('$', '')}"`)];
    }),
    [
      'an array',
      raw({ type: 'array', items: { type: 'string', 'x-mcp-header': 'Region' } }),
      /under "items"/,
    ],
    [
      'zod, a nullable one whose string has the header',
      z.object({ region: z.string().meta(mcpHeader('Region')).nullable() }),
      /it is under "anyOf", but only "properties" may lead to it/,
    ],
  ])('stops the bootstrap: %s', async (_, input, message) => {
    const text = await refused(handlerWith(input));
    expect(text).toMatch(/^Orders\.place: /);
    expect(text).toMatch(message);
  });

  it('refuses a tool that is added at run time', async () => {
    const app = await startApp([]);
    try {
      const registry = app.app.get(McpServerRegistry);
      const input = raw({ type: 'number', 'x-mcp-header': 'Region' });
      await expect(registry.add('tool', { name: 'late', inputSchema: input }, () => 'late')).rejects.toThrow(
        /property "region" .*the type "number"/,
      );
    } finally {
      await app.close();
    }
  });

  it('is a static property', () => {
    expect(() => {
      class Static {
        @McpHeader('Region')
        static region = 'eu';
      }
      return Static;
    }).toThrow('Static.region: @McpHeader() cannot be on a static property');
  });
});

describe('@HeaderParam()', () => {
  it('stops the bootstrap for a header that the input does not declare', async () => {
    @Injectable()
    class Orders {
      @Tool()
      place(@Args() _order: Place, @HeaderParam('Regoin') _region: string) {}
    }
    expect(await refused(Orders)).toMatch(/^Orders\.place: @HeaderParam\("Regoin"\) .*\(declared: Region\)/);
  });

  it('stops the bootstrap on what is no tool', async () => {
    @Injectable()
    class Prompts {
      @Prompt()
      greet(@HeaderParam('Region') _region: string) {}
    }
    @Injectable()
    class Resources {
      @Resource({ uri: 'a://b' })
      read(@HeaderParam('Region') _region: string) {}
    }
    expect(await refused(Prompts)).toMatch(/^Prompts\.greet: @HeaderParam\(\) works only in tools/);
    expect(await refused(Resources)).toMatch(/^Resources\.read: @HeaderParam\(\) works only in tools/);
  });
});
