import { Injectable, ParseDatePipe, type PipeTransform, type Type } from '@nestjs/common';
import { Type as TypeOf } from 'class-transformer';
import { IsArray, IsInt, IsOptional, IsString, ValidateNested } from 'class-validator';
import { Args, McpHeader, Prompt, Tool } from 'nestjs-mcp';
import { startApp, textOf, type TestApp } from '../../test/fixtures/matrix.js';

class Folder {
  @IsString()
  name!: string;

  @IsOptional()
  @IsArray()
  @ValidateNested({ each: true })
  @TypeOf(() => Folder)
  folders?: Folder[];
}

class Address {
  @McpHeader('Region')
  @IsString()
  region!: string;

  @IsInt()
  floor!: number;
}

/** A pipe that says what it is given. */
const seen: PipeTransform = { transform: value => `${typeof value} ${String(value)}` };

@Injectable()
class Handlers {
  @Tool()
  remind(@Args('at') at: Date, @Args({ name: 'until', optional: true }) until?: Date) {
    return `${at instanceof Date} ${at.toISOString()} ${String(until)}`;
  }

  @Tool()
  piped(@Args('at', new ParseDatePipe()) at: Date, @Args('raw', seen) raw: Date) {
    return `${at.toISOString()} ${String(raw)}`;
  }

  @Tool()
  ship(@Args({ name: 'to', description: 'Where to' }) to: Address, @Args('tree') tree: Folder) {
    return `${to instanceof Address} ${to.region} ${tree.folders?.[0] instanceof Folder}`;
  }
}

let app: TestApp;
beforeAll(async () => (app = await startApp([Handlers])));
afterAll(() => app.close());

const schemaOf = async (name: string) => {
  const { tools } = await (await app.client()).listTools();
  return tools.find(tool => tool.name === name)?.inputSchema;
};
const call = async (name: string, args: Record<string, unknown>) =>
  textOf(await (await app.client()).callTool({ name, arguments: args }));

describe('a named argument that is a Date', () => {
  it('is a date-time, and reaches the method as a Date', async () => {
    expect(await schemaOf('remind')).toEqual({
      type: 'object',
      properties: {
        at: { type: 'string', format: 'date-time' },
        until: { type: 'string', format: 'date-time' },
      },
      required: ['at'],
    });
    expect(await call('remind', { at: '2026-07-28T12:00:00Z' })).toBe(
      'true 2026-07-28T12:00:00.000Z undefined',
    );
    expect(await call('remind', { at: 'tomorrow' })).toContain('at: must match format "date-time"');
  });

  it('reaches its own pipes as text', async () => {
    const at = '2026-07-28T12:00:00Z';
    expect(await call('piped', { at, raw: at })).toBe(`2026-07-28T12:00:00.000Z string ${at}`);
  });
});

describe('a named argument that is a class', () => {
  it('has the schema of the class, its references and header parameters included', async () => {
    expect(await schemaOf('ship')).toEqual({
      type: 'object',
      properties: {
        to: {
          type: 'object',
          description: 'Where to',
          properties: { region: { type: 'string', 'x-mcp-header': 'Region' }, floor: { type: 'integer' } },
          required: ['region', 'floor'],
          additionalProperties: false,
        },
        tree: {
          type: 'object',
          properties: {
            name: { type: 'string' },
            folders: { type: 'array', items: { type: 'object', $ref: '#/properties/tree' } },
          },
          required: ['name'],
          additionalProperties: false,
        },
      },
      required: ['to', 'tree'],
    });
  });

  it('is validated, and reaches the method as an instance', async () => {
    const tree = { name: 'a', folders: [{ name: 'b' }] };
    const client = await app.client();
    await client.listTools(); // for the header
    const ship = async (args: Record<string, unknown>) =>
      textOf(await client.callTool({ name: 'ship', arguments: args }));
    expect(await ship({ to: { region: 'eu', floor: 1 }, tree })).toBe('true eu true');
    expect(
      await ship({ to: { region: 'eu', floor: 'x' }, tree: { name: 'a', folders: [{ name: 1 }] } }),
    ).toBe(
      'Invalid arguments for tool "ship": to.floor: floor must be an integer number; ' +
        'tree.folders[0].name: name must be a string',
    );
    expect(await ship({ to: 'eu', tree })).toContain('to: must be object');
  });
});

describe('the nested classes of named arguments', () => {
  class Place {
    @IsString()
    city!: string;
  }
  class Parcel {
    @ValidateNested()
    @TypeOf(() => Place)
    from!: Place;
  }
  const OtherPlace = (() => {
    class Place {
      @IsInt()
      zip!: number;
    }
    return Place;
  })();
  class Letter {
    @ValidateNested()
    @TypeOf(() => OtherPlace)
    from!: object;

    @IsOptional()
    @ValidateNested()
    @TypeOf(() => Letter)
    reply?: Letter;
  }

  @Injectable()
  class Post {
    @Tool()
    send(@Args('a') a: Parcel, @Args('b') b: Parcel, @Args('c') c: Letter) {
      return [a, b, c].map(({ from }) => JSON.stringify(from)).join();
    }
  }

  it('are definitions of the root, and of each class there is one', async () => {
    const { client, close } = await startApp([Post]);
    const { tools } = await (await client()).listTools();
    const object = (properties: object, required: string[]) => ({
      type: 'object',
      properties,
      required,
      additionalProperties: false,
    });
    const parcel = object({ from: { type: 'object', $ref: '#/$defs/Place' } }, ['from']);
    expect(tools[0]?.inputSchema).toEqual({
      type: 'object',
      properties: {
        a: parcel,
        b: parcel,
        c: object(
          {
            from: { type: 'object', $ref: '#/$defs/Place2' },
            reply: { type: 'object', $ref: '#/properties/c' },
          },
          ['from'],
        ),
      },
      required: ['a', 'b', 'c'],
      $defs: {
        Place: object({ city: { type: 'string' } }, ['city']),
        Place2: object({ zip: { type: 'integer' } }, ['zip']),
      },
    });
    const args = { a: { from: { city: 'x' } }, b: { from: { city: 'y' } }, c: { from: { zip: 1 } } };
    expect(textOf(await (await client()).callTool({ name: 'send', arguments: args }))).toBe(
      '{"city":"x"},{"city":"y"},{"zip":1}',
    );
    await close();
  });
});

describe('a named argument of which nothing is known stops the application:', () => {
  const mistake = async (handlers: Type) => {
    let running: TestApp;
    try {
      running = await startApp([handlers]);
    } catch (error) {
      return (error as Error).message;
    }
    await running.close();
    return 'it started';
  };

  it('a list of a tool', async () => {
    @Injectable()
    class Tools {
      @Tool()
      tag(@Args('tags') tags: string[]) {
        return tags.length;
      }
    }
    expect(await mistake(Tools)).toBe(
      'Tools.tag: the type of its argument "tags" is unknown, so it would not be checked: declare "inputSchema"; only strings, ' +
        'numbers, booleans, dates and classes with class-validator decorators are checked without it',
    );
  });

  it('a union of a tool, and a list of a prompt', async () => {
    @Injectable()
    class Tools {
      @Tool()
      tag(@Args('tags') tags: string | number) {
        return tags;
      }
    }
    @Injectable()
    class Prompts {
      @Prompt()
      tag(@Args('tags') tags: string[]) {
        return tags[0];
      }
    }
    expect(await mistake(Tools)).toContain('Tools.tag: the type of its argument "tags" is unknown');
    expect(await mistake(Prompts)).toContain('declare "argsSchema"');
  });
});
