import 'reflect-metadata';
import { Transform, Type } from 'class-transformer';
import {
  Allow,
  ArrayMaxSize,
  ArrayMinSize,
  ArrayNotEmpty,
  ArrayUnique,
  Equals,
  IsAlpha,
  IsArray,
  IsBoolean,
  IsDate,
  IsDateString,
  IsDefined,
  IsEmail,
  IsEnum,
  IsIn,
  IsInt,
  IsIP,
  IsISO8601,
  IsNegative,
  IsNotEmpty,
  IsNotEmptyObject,
  IsNumber,
  IsObject,
  IsOptional,
  IsPositive,
  IsString,
  IsUrl,
  IsUUID,
  Length,
  Matches,
  Max,
  MaxLength,
  Min,
  MinLength,
  ValidateIf,
  ValidateNested,
} from 'class-validator';
import { compileClass } from './class-compiler.js';
import { Description } from './keywords.js';
import { SchemaError } from './schema.error.js';
import type { SchemaIo } from './types.js';

enum Color {
  Red = 'red',
  Blue = 'blue',
}
enum Level {
  Low,
  High = 10,
}
enum Ratio {
  Half = 0.5,
  Whole = 1,
}
enum Mixed {
  No,
  Yes = 'yes',
}

const jsonSchemaOf = async (type: new () => unknown, io: SchemaIo = 'input') =>
  (await compileClass(type, io)).jsonSchema as {
    properties: Record<string, unknown>;
    required?: string[];
    $defs?: Record<string, unknown>;
  };

/** The schema of a property with these decorators; TypeScript's own metadata says `type`. */
async function property(decorators: PropertyDecorator[], type: unknown = Object, io: SchemaIo = 'input') {
  class Dto {}
  Reflect.defineMetadata('design:type', type, Dto.prototype, 'it');
  for (const decorate of decorators) decorate(Dto.prototype, 'it');
  return (await jsonSchemaOf(Dto, io)).properties.it;
}

describe('the JSON Schema of a property', () => {
  it.each<[string, PropertyDecorator[], object]>([
    ['IsString', [IsString()], { type: 'string' }],
    ['MinLength', [MinLength(2)], { type: 'string', minLength: 2 }],
    ['MaxLength', [MaxLength(5)], { type: 'string', maxLength: 5 }],
    ['Length', [Length(2, 5)], { type: 'string', minLength: 2, maxLength: 5 }],
    ['Length without an end', [Length(2)], { type: 'string', minLength: 2 }],
    ['Matches', [Matches(/^[a-z]+$/)], { type: 'string', pattern: '^[a-z]+$' }],
    ['Matches, as text', [Matches('^[a-z]+$')], { type: 'string', pattern: '^[a-z]+$' }],
    ['Matches with a flag', [Matches(/^a$/i)], { type: 'string' }],
    ['Matches with a modifier', [Matches('^a$', 'i')], { type: 'string' }],
    ['Matches, not Unicode', [Matches(/[\w-.]/)], { type: 'string' }],
    ['IsNotEmpty of a string', [IsString(), IsNotEmpty()], { type: 'string', minLength: 1 }],
    ['IsNotEmpty of a longer string', [IsNotEmpty(), MinLength(3)], { type: 'string', minLength: 3 }],
    ['IsNotEmpty of a number', [IsInt(), IsNotEmpty()], { type: 'integer' }],
    ['IsEmail', [IsEmail()], { type: 'string', format: 'email' }],
    ['IsUrl', [IsUrl()], { type: 'string', format: 'uri' }],
    ['IsUUID', [IsUUID()], { type: 'string', format: 'uuid' }],
    [
      'IsDateString',
      [IsDateString()],
      { type: 'string', anyOf: [{ format: 'date-time' }, { format: 'date' }] },
    ],
    ['IsISO8601', [IsISO8601()], { type: 'string', anyOf: [{ format: 'date-time' }, { format: 'date' }] }],
    ['IsIP', [IsIP()], { type: 'string', anyOf: [{ format: 'ipv4' }, { format: 'ipv6' }] }],
    ['IsIP(4)', [IsIP(4)], { type: 'string', format: 'ipv4' }],
    ['IsIP(6)', [IsIP('6')], { type: 'string', format: 'ipv6' }],
    ['IsDate', [IsDate(), Type(() => Date)], { type: 'string', format: 'date-time' }],
    [
      'IsDate, transformed',
      [IsDate(), Transform(({ value }) => value)],
      { type: 'string', format: 'date-time' },
    ],

    ['IsNumber', [IsNumber()], { type: 'number' }],
    ['IsInt', [IsInt()], { type: 'integer' }],
    ['IsPositive', [IsPositive()], { type: 'number', exclusiveMinimum: 0 }],
    ['IsNegative', [IsNegative()], { type: 'number', exclusiveMaximum: 0 }],
    ['Min and Max', [Min(1), Max(9)], { type: 'number', minimum: 1, maximum: 9 }],
    ['Max of an integer', [Max(9), IsInt()], { type: 'integer', maximum: 9 }],
    ['Max of a number and an integer', [IsInt(), IsNumber()], { type: 'integer' }],
    ['an unbounded Max', [Max(Infinity)], { type: 'number' }],

    ['IsBoolean', [IsBoolean()], { type: 'boolean' }],
    ['IsEnum of strings', [IsEnum(Color)], { type: 'string', enum: ['red', 'blue'] }],
    ['IsEnum of integers', [IsEnum(Level)], { type: 'integer', enum: [0, 10] }],
    ['IsEnum of numbers', [IsEnum(Ratio)], { enum: [0.5, 1] }],
    ['IsEnum of both', [IsEnum(Mixed)], { enum: [0, 'yes'] }],
    ['IsEnum of a list', [IsEnum(['a', 'b'])], { type: 'string', enum: ['a', 'b'] }],
    ['IsIn', [IsIn(['a', 'b', 'a'])], { type: 'string', enum: ['a', 'b'] }],
    ['IsIn with null', [IsIn(['a', null])], { enum: ['a', null] }],
    ['IsIn with what JSON has not', [IsIn(['a', undefined, NaN, {}])], { type: 'string', enum: ['a'] }],
    ['Equals', [Equals('a')], { const: 'a' }],
    ['Equals of an object', [Equals({})], {}],

    ['IsArray', [IsArray()], { type: 'array' }],
    [
      'IsArray of strings',
      [IsArray(), IsString({ each: true })],
      { type: 'array', items: { type: 'string' } },
    ],
    ['each alone', [IsInt({ each: true })], { type: 'array', items: { type: 'integer' } }],
    [
      'IsEnum, each',
      [IsEnum(Color, { each: true })],
      { type: 'array', items: { type: 'string', enum: ['red', 'blue'] } },
    ],
    ['ArrayNotEmpty', [ArrayNotEmpty()], { type: 'array', minItems: 1 }],
    ['ArrayMinSize', [ArrayMinSize(2), ArrayMaxSize(3)], { type: 'array', minItems: 2, maxItems: 3 }],
    ['ArrayUnique', [ArrayUnique()], { type: 'array', uniqueItems: true }],

    ['IsObject', [IsObject()], { type: 'object' }],
    ['IsNotEmptyObject', [IsNotEmptyObject()], { type: 'object', minProperties: 1 }],
    ['IsDefined', [IsDefined()], {}],
    ['two bounds', [Length(2, 9), Length(3, 20)], { type: 'string', minLength: 3, maxLength: 9 }],
    [
      'two patterns',
      [Matches(/a/), Matches(/b/)],
      { type: 'string', pattern: 'a', allOf: [{ pattern: 'b' }] },
    ],
    ['two at odds', [IsString(), IsInt()], { type: 'string', allOf: [{ type: 'integer' }] }],
    ['a condition of one decorator', [IsString({ validateIf: () => false }), IsNotEmpty()], { minLength: 1 }],
  ])('%s', async (_, decorators, expected) => {
    expect(await property(decorators)).toEqual(expected);
  });

  it.each<[string, unknown, PropertyDecorator, object]>([
    ['String', String, IsDefined(), { type: 'string' }],
    ['Number', Number, IsDefined(), { type: 'number' }],
    ['Boolean', Boolean, IsDefined(), { type: 'boolean' }],
    ['Array', Array, IsDefined(), { type: 'array' }],
    ['Date', Date, IsDefined(), { type: 'string', format: 'date-time' }],
    ['Object', Object, IsDefined(), {}],
    ['a class', Map, IsDefined(), {}],
    ['nothing', undefined, IsDefined(), {}],
    ['String, for a decorator without a counterpart', String, IsAlpha(), { type: 'string' }],
    ['String, not empty', String, IsNotEmpty(), { type: 'string', minLength: 1 }],
    ['Number, not empty', Number, IsNotEmpty(), { type: 'number' }],
    ['Number, but a decorator says integer', Number, IsInt(), { type: 'integer' }],
    ['Object, but a decorator says enum', Object, IsEnum(Mixed), { enum: [0, 'yes'] }],
  ])('falls back on what TypeScript reflects: %s', async (_, type, decorator, expected) => {
    expect(await property([decorator], type)).toEqual(expected);
  });

  it.each<[string, PropertyDecorator[], object]>([
    ['a format narrower than the check', [IsEmail()], { type: 'string' }],
    ['a URL, which may lack its scheme', [IsUrl()], { type: 'string' }],
    ['a date string, which may lack its zone', [IsDateString()], { type: 'string' }],
    ['a UUID', [IsUUID()], { type: 'string', format: 'uuid' }],
    ['an optional value', [IsInt(), IsOptional()], { anyOf: [{ type: 'integer' }, { type: 'null' }] }],
    ['an optional anything', [IsOptional()], {}],
  ])('promises no more of a result than was checked: %s', async (_, decorators, expected) => {
    expect(await property(decorators, Object, 'output')).toEqual(expected);
  });

  it.each<[string, PropertyDecorator[], boolean]>([
    ['any other decorator', [IsString()], true],
    ['IsDefined', [IsDefined()], true],
    ['IsOptional', [IsString(), IsOptional()], false],
    ['ValidateIf', [IsString(), ValidateIf(() => true)], false],
    ['Allow alone', [Allow()], false],
    ['Allow with another', [Allow(), IsString()], true],
  ])('is required, or not, by %s', async (_, decorators, required) => {
    class Dto {}
    for (const decorate of decorators) decorate(Dto.prototype, 'it');
    expect(await jsonSchemaOf(Dto)).toMatchObject({ properties: { it: {} } });
    expect((await jsonSchemaOf(Dto)).required).toEqual(required ? ['it'] : undefined);
  });
});

describe('the JSON Schema of a class', () => {
  it('refuses unknown properties', async () => {
    class Dto {
      @IsString() name!: string;
    }
    expect(await jsonSchemaOf(Dto)).toEqual({
      type: 'object',
      properties: { name: { type: 'string' } },
      required: ['name'],
      additionalProperties: false,
    });
  });

  it('has the properties of its parent, and its own in their place', async () => {
    class Base {
      @IsString() @MinLength(5) id!: string;
      @IsInt() @IsOptional() page?: number;
    }
    class Dto extends Base {
      @IsInt() declare id: never;
      @IsString() name!: string;
    }
    expect(await jsonSchemaOf(Dto)).toEqual({
      type: 'object',
      properties: { id: { type: 'integer' }, page: { type: 'integer' }, name: { type: 'string' } },
      required: expect.arrayContaining(['id', 'name']),
      additionalProperties: false,
    });
    expect((await jsonSchemaOf(Base)).properties.id).toEqual({ type: 'string', minLength: 5 });
  });

  it('has descriptions', async () => {
    @Description('A range')
    class Base {
      @Description('First') @IsInt() from!: number;
      @Description('Last') @IsInt() to!: number;
    }
    class Dto extends Base {
      @Description('Last, inclusive') @IsInt() declare to: number;
    }
    expect(await jsonSchemaOf(Base)).toMatchObject({ description: 'A range' });
    const dto = await jsonSchemaOf(Dto);
    expect(dto).not.toHaveProperty('description');
    expect(dto.properties).toMatchObject({
      from: { description: 'First' },
      to: { description: 'Last, inclusive' },
    });
    expect((await jsonSchemaOf(Base)).properties.to).toHaveProperty('description', 'Last');
  });

  it('has defaults that JSON can hold, and asks for nothing that has one', async () => {
    class Dto {
      @IsInt() @IsOptional() limit = 10;
      @IsString() sort = 'name';
      @IsBoolean() @IsOptional() deep = false;
      @IsArray() @IsOptional() tags = [];
      @IsNumber() @IsOptional() ratio = NaN;
      @IsString() @IsOptional() none: string | null = null;
    }
    const { properties, required } = await jsonSchemaOf(Dto);
    expect(properties).toEqual({
      limit: { type: 'integer', default: 10 },
      sort: { type: 'string', default: 'name' },
      deep: { type: 'boolean', default: false },
      tags: { type: 'array' },
      ratio: { type: 'number' },
      none: { type: 'string' },
    });
    expect(required).toBeUndefined();
  });
});

describe('nested classes', () => {
  class Address {
    @IsString() street!: string;
  }
  const Other = (() => {
    class Address {
      @IsInt() zip!: number;
    }
    return Address;
  })();

  it('are definitions of type object, two of the same name included', async () => {
    class Order {
      @ValidateNested() @Type(() => Address) @Description('Where to') home!: Address;
      @ValidateNested() @Type(() => Other) work!: object;
      @ValidateNested() @Type(() => Address) @IsOptional() billing?: Address;
    }
    const { properties, $defs, required } = await jsonSchemaOf(Order);
    expect(properties).toEqual({
      home: { type: 'object', $ref: '#/$defs/Address', description: 'Where to' },
      work: { type: 'object', $ref: '#/$defs/Address2' },
      billing: { type: 'object', $ref: '#/$defs/Address' },
    });
    expect(required).toEqual(['home', 'work']);
    expect($defs).toMatchObject({
      Address: { properties: { street: {} }, additionalProperties: false },
      Address2: { properties: { zip: {} }, additionalProperties: false },
    });
  });

  it('have names that fit a $ref', async () => {
    const Nameless = (() =>
      class {
        it!: string;
      })();
    IsString()(Nameless.prototype, 'it');
    const Odd = { 'Größe<T>': class extends Address {} }['Größe<T>'];
    class Order {
      @ValidateNested() @Type(() => Nameless) a!: object;
      @ValidateNested() @Type(() => Odd) b!: object;
    }
    expect(Object.keys((await jsonSchemaOf(Order)).$defs ?? {})).toEqual(['Anonymous', 'Gr__e_T_']);
  });

  it.each<[string, PropertyDecorator[], unknown]>([
    ['IsArray', [IsArray(), ValidateNested()], Object],
    ['each', [ValidateNested({ each: true })], Object],
    ['its reflected type', [ValidateNested()], Array],
    ['ArrayUnique, which compares objects by identity', [ArrayUnique(), ValidateNested()], Object],
  ])('can be items, as told by %s', async (_, decorators, type) => {
    expect(await property([...decorators, Type(() => Address)], type)).toEqual({
      type: 'array',
      items: { type: 'object', $ref: '#/$defs/Address' },
    });
  });

  it('can lead back to the root, or to each other', async () => {
    class Leaf {
      @ValidateNested() @Type(() => Leaf) @IsOptional() next?: object;
      @ValidateNested() @Type(() => Tree) @IsOptional() tree?: object;
    }
    class Tree {
      @ValidateNested({ each: true }) @Type(() => Tree) children!: object[];
      @ValidateNested() @Type(() => Leaf) leaf!: Leaf;
    }
    expect(await jsonSchemaOf(Tree)).toMatchObject({
      properties: {
        children: { type: 'array', items: { type: 'object', $ref: '#' } },
        leaf: { type: 'object', $ref: '#/$defs/Leaf' },
      },
      $defs: {
        Leaf: {
          properties: { next: { type: 'object', $ref: '#/$defs/Leaf' }, tree: { type: 'object', $ref: '#' } },
        },
      },
    });
  });

  it('can be told apart by a discriminator', async () => {
    class Cat extends Address {}
    class Dog {
      @IsInt() age!: number;
    }
    const subTypes = [
      { value: Cat, name: 'cat' },
      { value: Dog, name: 'dog' },
    ];
    class Owner {
      @ValidateNested({ each: true })
      @Type(() => Object, { discriminator: { property: 'kind', subTypes } })
      pets!: object[];
    }
    const { properties, $defs } = await jsonSchemaOf(Owner);
    expect(properties.pets).toEqual({
      type: 'array',
      items: {
        type: 'object',
        anyOf: [
          { type: 'object', $ref: '#/$defs/Cat' },
          { type: 'object', $ref: '#/$defs/Dog' },
        ],
      },
    });
    expect($defs?.Cat).toMatchObject({
      properties: { kind: { const: 'cat' }, street: { type: 'string' } },
      required: ['street', 'kind'],
    });
  });

  it('can be made by a Transform', async () => {
    const transform = Transform(({ value }: { value: unknown }) => value);
    expect(await property([ValidateNested(), transform], Address)).toEqual({
      type: 'object',
      $ref: '#/$defs/Address',
    });
    expect(await property([ValidateNested(), transform], Object)).toEqual({ type: 'object' });
  });
});

describe('a class that cannot be a schema', () => {
  class Bare {}
  class Fussy {
    @IsString() name: string;
    constructor(user: { name: string }) {
      this.name = user.name;
    }
  }

  it.each<[string, PropertyDecorator[], string]>([
    [
      'a nested class without @Type()',
      [ValidateNested()],
      'Dto.it has @ValidateNested(), but its class is unknown: add @Type()',
    ],
    [
      'a nested class without decorators',
      [ValidateNested(), Type(() => Bare)],
      'the class Bare has no decorators of class-validator',
    ],
    [
      'a nested class whose constructor throws',
      [ValidateNested(), Type(() => Fussy)],
      'new Fussy() throws (Cannot read',
    ],
    [
      'a date that nothing converts',
      [IsDate()],
      'Dto.it is @IsDate(), but JSON has only strings: add @Type(() => Date)',
    ],
  ])('has %s', async (_, decorators, message) => {
    await expect(property(decorators, Bare)).rejects.toThrow(SchemaError);
    await expect(property(decorators, Bare)).rejects.toThrow(message);
  });

  it('has a property that is not decorated, which class-validator would refuse on every call', async () => {
    class Dto {
      @IsString() name!: string;
      @Allow() anything: unknown;
      helper?: string;
    }
    await expect(jsonSchemaOf(Dto)).rejects.toThrow(
      'Dto.helper has no class-validator decorator, so that every',
    );
  });

  it('has no decorators', async () => {
    await expect(jsonSchemaOf(Bare)).rejects.toThrow(
      'the class Bare has no decorators of class-validator or @nestjs/swagger: add some, or use another kind of schema',
    );
  });
});
