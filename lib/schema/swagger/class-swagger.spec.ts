import {
  ApiExtraModels,
  ApiHideProperty,
  ApiProperty,
  ApiPropertyOptional,
  ApiSchema,
  getSchemaPath,
  IntersectionType,
  OmitType,
  PartialType,
  PickType,
} from '@nestjs/swagger';
import { Logger, type Type } from '@nestjs/common';
import { Allow, IsInt, IsNotEmpty, IsOptional, IsString, Min, ValidateNested } from 'class-validator';
import { plainToInstance, Transform, Type as Typed } from 'class-transformer';
import { before } from '@nestjs/swagger/plugin';
import ts from 'typescript';
import { compileSchema } from '../compile-schema.js';
import { Description } from '../keywords.js';
import type { JsonSchema } from '../types.js';

enum Color {
  Red = 'red',
  Blue = 'blue',
}

enum Level {
  Low = 1,
  High = 2,
}

class Address {
  @ApiProperty({ description: 'Where', minLength: 2 })
  street!: string;
}

class Cat {
  @ApiProperty()
  purrs!: boolean;
}

class Dog {
  @ApiProperty()
  barks!: boolean;
}

const one = (decorate: PropertyDecorator): Type => {
  class One {}
  decorate(One.prototype, 'value');
  ApiExtraModels(Cat, Dog)(One);
  return One;
};

const propertyOf = async (type: Type, name = 'value'): Promise<JsonSchema> =>
  ((await compileSchema(type, 'input')).jsonSchema['properties'] as Record<string, JsonSchema>)[name];

const accepts = async (type: Type, value: unknown): Promise<boolean> =>
  (await (await compileSchema(type, 'input')).validate(value)).ok;

interface Row {
  readonly options: Parameters<typeof ApiProperty>[0];
  readonly schema: object;
  readonly good: readonly unknown[];
  readonly bad: readonly unknown[];
}

const ROWS: Record<string, Row> = {
  'a class': { options: { type: String }, schema: { type: 'string' }, good: ['a'], bad: [1, null] },
  'a type by name': { options: { type: 'integer' }, schema: { type: 'integer' }, good: [1], bad: [1.5, '1'] },
  words: {
    options: {
      type: Number,
      description: 'How many',
      example: 3,
      deprecated: true,
      default: 1,
      title: 'Count',
    },
    schema: {
      type: 'number',
      description: 'How many',
      examples: [3],
      deprecated: true,
      default: 1,
      title: 'Count',
    },
    good: [1],
    bad: ['1'],
  },
  examples: {
    options: { type: String, examples: { first: { value: 'a' }, second: { value: 'b' } } },
    schema: { type: 'string', examples: ['a', 'b'] },
    good: ['c'],
    bad: [1],
  },
  limits: {
    options: { type: Number, minimum: 1, maximum: 5 },
    schema: { type: 'number', minimum: 1, maximum: 5 },
    good: [1, 5],
    bad: [0, 6],
  },
  'a format and a pattern': {
    options: { type: String, format: 'email', pattern: '@example' },
    schema: { type: 'string', format: 'email', pattern: '@example' },
    good: ['a@example.com'],
    bad: ['a@other.com', 'example'],
  },
  'an enum of texts': {
    options: { enum: Color },
    schema: { type: 'string', enum: ['red', 'blue'] },
    good: ['red'],
    bad: ['green', null],
  },
  'an enum with a name': {
    options: { enum: Color, enumName: 'Color' },
    schema: { type: 'string', enum: ['red', 'blue'] },
    good: ['blue'],
    bad: ['x'],
  },
  'an enum of numbers': {
    options: { enum: Level },
    schema: { type: 'integer', enum: [1, 2] },
    good: [2],
    bad: [3, 'Low'],
  },
  'a list of an enum': {
    options: { enum: Color, isArray: true },
    schema: { type: 'array', items: { type: 'string', enum: ['red', 'blue'] } },
    good: [['red'], []],
    bad: ['red', ['x']],
  },
  'a list of texts': {
    options: { type: [String] },
    schema: { type: 'array', items: { type: 'string' } },
    good: [['a']],
    bad: ['a', [1]],
  },
  'a list with limits': {
    options: { type: String, isArray: true, minItems: 1 },
    schema: { type: 'array', items: { type: 'string' }, minItems: 1 },
    good: [['a']],
    bad: [[]],
  },
  'a nullable value': {
    options: { type: String, nullable: true },
    schema: { type: ['string', 'null'] },
    good: ['a', null],
    bad: [1],
  },
  'a nullable enum': {
    options: { enum: Color, nullable: true },
    schema: { enum: ['red', 'blue', null] },
    good: [null, 'red'],
    bad: ['x'],
  },
  'a lazy class': {
    options: { type: () => Address },
    schema: { type: 'object', $ref: '#/$defs/Address' },
    good: [{ street: 'High St' }],
    bad: [{ street: 'x' }, {}, 'x', { street: 'High St', city: 'x' }],
  },
  'a list of classes': {
    options: { type: () => [Address] },
    schema: { type: 'array', items: { type: 'object', $ref: '#/$defs/Address' } },
    good: [[{ street: 'High St' }]],
    bad: [{ street: 'High St' }, [{}]],
  },
  'a nullable class': {
    options: { type: () => Address, nullable: true },
    schema: { anyOf: [{ type: 'object', $ref: '#/$defs/Address' }, { type: 'null' }] },
    good: [null, { street: 'High St' }],
    bad: [{}],
  },
  'a union': {
    options: { oneOf: [{ $ref: getSchemaPath(Cat) }, { $ref: getSchemaPath(Dog) }] },
    schema: {
      oneOf: [
        { type: 'object', $ref: '#/$defs/Cat' },
        { type: 'object', $ref: '#/$defs/Dog' },
      ],
    },
    good: [{ purrs: true }, { barks: true }],
    bad: [{ flies: true }],
  },
  'a date': {
    options: { type: Date },
    schema: { type: 'string', format: 'date-time' },
    good: ['2026-01-01T00:00:00Z'],
    bad: ['soon'],
  },
  'bounds as booleans': {
    options: { type: Number, minimum: 1, exclusiveMinimum: true },
    schema: { type: 'number', exclusiveMinimum: 1 },
    good: [2],
    bad: [1],
  },
};

describe('a class with swagger decorators', () => {
  it.each(Object.entries(ROWS))(
    'has the schema of @ApiProperty(), and is checked against it: %s',
    async (_, { options, schema, good, bad }) => {
      const type = one(ApiProperty(options));
      expect(await propertyOf(type)).toEqual(schema);
      for (const value of good) expect([value, await accepts(type, { value })]).toEqual([value, true]);
      for (const value of bad) expect([value, await accepts(type, { value })]).toEqual([value, false]);
      expect(await accepts(type, {})).toBe(false);
      expect(await accepts(type, { value: good[0], other: 1 })).toBe(false);
    },
  );

  it('makes instances, also of nested classes and dates', async () => {
    class Person {
      @ApiProperty({ type: () => Address })
      home!: Address;
      @ApiProperty({ type: () => [Address] })
      others!: Address[];
      @ApiPropertyOptional()
      born?: Date;
    }
    const schema = await compileSchema(Person, 'input');
    expect(schema.jsonSchema['required']).toEqual(['home', 'others']);
    const street = { street: 'High St' };
    const result = await schema.validate({ home: street, others: [street], born: '2026-01-01T00:00:00Z' });
    expect(result).toMatchObject({ ok: true });
    const { value } = result as unknown as { value: Person };
    expect([value, value.home, value.others[0], value.born].map(one => one?.constructor.name)).toEqual([
      'Person',
      'Address',
      'Address',
      'Date',
    ]);
  });

  it('leaves what is valid to class-validator, and the words to swagger', async () => {
    class Mixed {
      @ApiProperty({ description: 'From swagger', maximum: 10, example: 5 })
      @IsInt()
      @Min(1)
      count!: number;
      @ApiProperty({ description: 'From swagger' })
      @Description('From nestjs-mcp')
      @IsString()
      name!: string;
      @ApiProperty({ minLength: 3 })
      only!: string;
      @IsOptional()
      @IsString()
      bare?: string;
    }
    expect(await propertyOf(Mixed, 'count')).toEqual({
      type: 'integer',
      minimum: 1,
      description: 'From swagger',
      examples: [5],
    });
    expect(await propertyOf(Mixed, 'name')).toEqual({ type: 'string', description: 'From nestjs-mcp' });
    const whole = { count: 11, name: 'n', only: 'abc' };
    expect(await accepts(Mixed, whole)).toBe(true);
    expect(await accepts(Mixed, { ...whole, bare: null })).toBe(true);
    expect(await accepts(Mixed, { ...whole, count: 0 })).toBe(false);
    expect(await accepts(Mixed, { ...whole, only: 'ab' })).toBe(false);
    expect(await accepts(Mixed, { ...whole, only: undefined })).toBe(false);
    expect(await accepts(Mixed, { ...whole, other: 1 })).toBe(false);
  });

  it('checks nested classes that only swagger describes', async () => {
    class Inner {
      @ApiProperty({ maxLength: 2 })
      short!: string;
      @IsInt()
      count!: number;
    }
    class Outer {
      @ValidateNested()
      @Typed(() => Inner)
      inner!: Inner;
    }
    expect(await accepts(Outer, { inner: { short: 'ab', count: 1 } })).toBe(true);
    expect(await accepts(Outer, { inner: { short: 'abc', count: 1 } })).toBe(false);
    expect(await accepts(Outer, { inner: { short: 'ab', count: 'x' } })).toBe(false);
  });

  it.each<[string, object, object]>([
    ['@IsOptional()', { optional: 5, allowed: 'a', full: 'a' }, { optional: 4 }],
    ['@IsOptional() and null', { optional: null, full: 'a' }, { optional: '7' }],
    ['@Allow()', { allowed: 'abc', full: 'a' }, { allowed: 1 }],
    ['@IsNotEmpty()', { full: 'abc' }, { full: 5 }],
    ['a nested class', { full: 'a', inner: { street: 'ab' } }, { inner: { street: 'a' } }],
    ['a nested class and null', { full: 'a', inner: null }, { inner: { street: 1 } }],
  ])('checks the type that only swagger gives, beside %s', async (_, good, bad) => {
    class Rules {
      @IsOptional()
      @ApiProperty({ type: Number, minimum: 5, required: false })
      optional?: number | null;
      @Allow()
      @ApiProperty({ type: String, required: false })
      allowed?: string;
      @IsNotEmpty()
      @ApiProperty({ type: String })
      full!: string;
      @IsOptional()
      @ValidateNested()
      @Typed(() => Address)
      inner?: Address | null;
    }
    expect(await accepts(Rules, good)).toBe(true);
    expect(await accepts(Rules, { ...good, ...bad })).toBe(false);
  });

  it('warns once of a contradiction, which class-validator decides', async () => {
    const warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation();
    class Torn {
      @ApiProperty({ type: String })
      @IsInt()
      count!: number;
      @ApiProperty({ required: true })
      @IsOptional()
      @IsString()
      name?: string;
      @ApiProperty()
      @IsString()
      fine!: string | null;
      // As the plugin reads a union.
      @ApiProperty({ type: () => Object })
      @IsInt()
      id!: number | string;
    }
    class Outer {
      @ValidateNested()
      @Typed(() => Torn)
      torn!: Torn;
    }
    await compileSchema(Outer, 'input');
    expect(await propertyOf(Torn, 'count')).toEqual({ type: 'integer' });
    await compileSchema(Torn, 'input');
    expect(warn.mock.calls.map(([message]) => message as string)).toEqual([
      'Torn: "count" is string in swagger and integer in class-validator, which decides',
      'Torn: "name" is required in swagger and optional in class-validator, which decides',
    ]);
    warn.mockRestore();
  });

  it('lists a text that @Transform() makes a class of', async () => {
    class Filter {
      @IsString()
      state!: string;
    }
    class Query {
      @ApiProperty({ type: String, description: 'JSON' })
      @Transform(({ value }) => plainToInstance(Filter, JSON.parse(value as string)))
      @ValidateNested()
      @Typed(() => Filter)
      filter!: Filter;
      @ApiProperty()
      page!: number;
    }
    const { jsonSchema } = await compileSchema(Query, 'input');
    expect(jsonSchema).toMatchObject({ properties: { filter: { type: 'string', description: 'JSON' } } });
    expect(jsonSchema['$defs']).toBeUndefined();
    expect(await accepts(Query, { filter: '{"state":"open"}', page: 1 })).toBe(true);
    expect(await accepts(Query, { filter: '{"state":1}', page: 1 })).toBe(false);
    expect(await accepts(Query, { filter: 'no JSON', page: 1 })).toBe(false);
  });

  it('lists null only if class-validator accepts it', async () => {
    class Named {
      @ApiProperty({ type: String, nullable: true })
      @IsNotEmpty()
      name!: string | null;
      @ApiProperty({ type: String, nullable: true })
      @IsOptional()
      @IsNotEmpty()
      nick?: string | null;
    }
    const { jsonSchema } = await compileSchema(Named, 'input');
    expect(jsonSchema['properties']).toEqual({
      name: { type: 'string', minLength: 1 },
      nick: { type: ['string', 'null'], minLength: 1 },
    });
    expect(await accepts(Named, { name: null })).toBe(false);
    expect(await accepts(Named, { name: 'a', nick: null })).toBe(true);
  });

  it('reads classes, hidden properties and mapped types', async () => {
    @ApiSchema({ name: 'Thing', description: 'A thing' })
    class Base {
      @ApiProperty({ minLength: 2 })
      name!: string;
      @ApiPropertyOptional({ type: Number })
      size?: number;
      @ApiHideProperty()
      secret?: string;
    }
    const requiredOf = async (type: Type) => (await compileSchema(type, 'input')).jsonSchema['required'];
    const namesOf = async (type: Type) =>
      Object.keys((await compileSchema(type, 'input')).jsonSchema['properties'] as object);
    expect((await compileSchema(Base, 'input')).jsonSchema).toMatchObject({
      title: 'Thing',
      description: 'A thing',
    });
    expect(await namesOf(Base)).toEqual(['name', 'size']);
    expect(await requiredOf(class Partial extends PartialType(Base) {})).toBeUndefined();
    expect(await namesOf(class Pick extends PickType(Base, ['size']) {})).toEqual(['size']);
    expect(await namesOf(class Omit extends OmitType(Base, ['size']) {})).toEqual(['name']);
    expect(await namesOf(class Both extends IntersectionType(Base, Address) {})).toEqual([
      'name',
      'size',
      'street',
    ]);
    expect(await accepts(class Short extends PickType(Base, ['name']) {}, { name: 'x' })).toBe(false);
  });

  it('names the class of a reference that nobody declares', async () => {
    class Lost {
      @ApiProperty({ oneOf: [{ $ref: getSchemaPath(Address) }] })
      value!: unknown;
    }
    await expect(compileSchema(Lost, 'input')).rejects.toThrow(
      /refers to Address.*add @ApiExtraModels\(Address\)/,
    );
  });
});

describe('a class that the swagger plugin has compiled', () => {
  it('has the types and comments of its source', async () => {
    const source = `
      export class CreateDto {
        /** The name of the order */
        name: string;
        /** How many
         * @example 3 */
        count?: number = 1;
        tags: string[];
      }`;
    const fileName = 'create.dto.ts';
    const options: ts.CompilerOptions = { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.CommonJS };
    const host = ts.createCompilerHost(options);
    const read = host.getSourceFile.bind(host);
    host.getSourceFile = (name, ...rest) =>
      name === fileName
        ? ts.createSourceFile(name, source, ts.ScriptTarget.ES2022, true)
        : read(name, ...rest);
    const program = ts.createProgram([fileName], options, host);
    const plugin = before({ introspectComments: true }, program) as ts.TransformerFactory<ts.SourceFile>;
    let code = '';
    program.emit(undefined, (_, text) => (code = text), undefined, false, { before: [plugin] });
    const module = { exports: {} as { CreateDto: Type } };
    // Not `node:vm`: its arrays and classes would be those of another realm than the test's.
    // eslint-disable-next-line @typescript-eslint/no-implied-eval
    new Function('module', 'exports', 'require', code)(module, module.exports, () => ({}));

    const { jsonSchema } = await compileSchema(module.exports.CreateDto, 'input');
    expect(jsonSchema['properties']).toEqual({
      name: { type: 'string', description: 'The name of the order' },
      count: { type: 'number', description: 'How many', default: 1, examples: [3] },
      tags: { type: 'array', items: { type: 'string' } },
    });
    expect(jsonSchema['required']).toEqual(['name', 'tags']);
  });
});
