import 'reflect-metadata';
import { Transform, Type } from 'class-transformer';
import {
  Allow,
  IsArray,
  IsDate,
  IsInt,
  IsObject,
  IsOptional,
  IsString,
  registerDecorator,
  ValidateNested,
} from 'class-validator';
import { compileClass } from './class-compiler.js';

class Address {
  @IsString() street!: string;
}
class Line {
  @IsInt() qty!: number;
  @ValidateNested() @Type(() => Address) @IsOptional() to?: Address;
}
class Order {
  @IsString() id!: string;
  @ValidateNested() @Type(() => Address) address!: Address;
  @IsArray() @ValidateNested({ each: true }) @Type(() => Line) lines!: Line[];
  @IsDate() @Type(() => Date) @IsOptional() due?: Date;
  @IsObject() @IsOptional() labels?: Record<string, unknown>;
  @IsInt() @IsOptional() priority = 1;
}

const VALID = { id: 'a', address: { street: 's' }, lines: [{ qty: 1 }] };

async function check(value: unknown, type: new () => unknown = Order) {
  const { validate } = await compileClass(type, 'input');
  return validate(value);
}
const issuesOf = async (value: unknown, type?: new () => unknown) => {
  const result = await check(value, type);
  return result.ok ? [] : result.issues.map(({ path, message }) => [path, message]);
};

it('hands back instances, nested ones too, with dates and defaults', async () => {
  const result = await check({ ...VALID, due: '2026-01-02T03:04:05Z' });
  if (!result.ok) throw new Error('refused');
  const order = result.value as Order;
  expect(order).toBeInstanceOf(Order);
  expect(order.address).toBeInstanceOf(Address);
  expect(order.lines[0]).toBeInstanceOf(Line);
  expect(order.due).toEqual(new Date('2026-01-02T03:04:05Z'));
  expect(order.priority).toBe(1);
});

it.each([
  ['a missing property', { ...VALID, id: undefined }, [['id', 'id must be a string']]],
  [
    'a nested property',
    { ...VALID, address: { street: 5 } },
    [['address.street', 'street must be a string']],
  ],
  [
    'a property in a list',
    { ...VALID, lines: [{ qty: 1 }, { qty: 'x', to: {} }] },
    [
      ['lines[1].qty', 'qty must be an integer number'],
      ['lines[1].to.street', 'street must be a string'],
    ],
  ],
  ['an unknown property', { ...VALID, x: 1 }, [['x', 'property x should not exist']]],
  [
    'an unknown nested property',
    { ...VALID, lines: [{ qty: 1, x: 1 }] },
    [['lines[0].x', 'property x should not exist']],
  ],
  [
    'an item that is no object',
    { ...VALID, lines: [null] },
    [['lines[0]', 'each value in nested property lines must be either object or array']],
  ],
  ['a date that is none', { ...VALID, due: 'soon' }, [['due', 'due must be a Date instance']]],
  ['a value that is no object', 'text', [['', 'must be an object']]],
  ['a list', [VALID], [['', 'must be an object']]],
  ['a date for the whole', new Date(), [['', 'an unknown value was passed to the validate function']]],
])('names %s', async (_, value, expected) => {
  expect(await issuesOf(value)).toEqual(expected);
});

it.each(['__proto__', 'constructor', 'prototype.constructor', 'toString', 'hasOwnProperty'])(
  'refuses the key %s at any depth',
  async path => {
    const key = path.split('.').at(-1) as string;
    const bad: unknown = JSON.parse(
      path.split('.').reduceRight((inner, name) => `{ "${name}": ${inner} }`, '"x"'),
    );
    expect(await issuesOf({ ...VALID, labels: bad })).toEqual([
      [`labels.${path}`, `property ${key} should not exist`],
    ]);
    const own: unknown = JSON.parse(JSON.stringify(VALID).replace('{', `{ "${key}": { "admin": true },`));
    expect(await issuesOf(own)).toEqual([[key, `property ${key} should not exist`]]);
    expect(({} as { admin?: unknown }).admin).toBeUndefined();
  },
);

it('passes free-form objects through', async () => {
  const labels = { a: 1, deep: [{ b: null }] };
  expect(await check({ ...VALID, labels })).toMatchObject({ ok: true, value: { labels } });
});

it('takes null for an optional value that is absent', async () => {
  expect(await check({ ...VALID, due: null })).toMatchObject({ ok: true });
});

it('leaves the value of the caller as it was', async () => {
  class Cat {
    @IsString() name!: string;
  }
  class Owner {
    @ValidateNested()
    @Type(() => Object, { discriminator: { property: 'kind', subTypes: [{ value: Cat, name: 'cat' }] } })
    pet!: object;
  }
  const value = { pet: { kind: 'cat', name: 'Tom' } };
  const result = await check(value, Owner);
  expect(result).toEqual({ ok: true, value: { pet: { name: 'Tom' } } });
  expect(result.ok && (result.value as Owner).pet).toBeInstanceOf(Cat);
  expect(value).toEqual({ pet: { kind: 'cat', name: 'Tom' } });
});

it('takes a value that cannot be converted for an issue, and does not repeat it', async () => {
  class Shout {
    @Transform(({ value }) => (value as string).toUpperCase()) @IsString() text!: string;
  }
  expect(await issuesOf({ text: { secret: 1 } }, Shout)).toEqual([['', 'cannot be converted to Shout']]);
});

it('takes an instance, as a handler may return', async () => {
  const order = Object.assign(new Order(), VALID, { due: new Date(0) });
  expect(await check(order)).toMatchObject({ ok: true, value: { due: new Date(0) } });
});

describe('what class-validator lets pass, and the JSON Schema does not', () => {
  class Basket {
    @ValidateNested() @Type(() => Address) address!: Address;
    @ValidateNested({ each: true }) @Type(() => Line) lines!: Line[];
    @IsString({ each: true }) @IsOptional() tags?: string[];
    @IsArray() @IsArray({ each: true }) @IsOptional() matrix?: unknown[][];
    @Allow() any?: unknown;
  }
  const basket = { address: { street: 's' }, lines: [{ qty: 1 }] };

  it.each([
    ['an absent object', { lines: [] }, [['address', 'address must be given']]],
    [
      'a list for an object',
      { ...basket, address: [basket.address] },
      [['address', 'address must not be an array']],
    ],
    ['no item for an object', { ...basket, address: [] }, [['address', 'address must not be an array']]],
    ['an object for a list', { ...basket, lines: basket.lines[0] }, [['lines', 'lines must be an array']]],
    [
      'a list in a list',
      { ...basket, lines: [basket.lines] },
      [['lines[0]', 'each value in lines must be an object']],
    ],
    [
      'a list deep inside',
      { ...basket, lines: [{ qty: 1, to: [] }] },
      [['lines[0].to', 'to must not be an array']],
    ],
    ['a value for a list', { ...basket, tags: 'x' }, [['tags', 'tags must be an array']]],
  ])('is refused: %s', async (_, value, expected) => {
    expect(await issuesOf(value, Basket)).toEqual(expected);
  });

  it.each([{}, { tags: ['x'] }, { tags: null }, { matrix: [[1]] }, { any: [1] }])(
    'is not: %j',
    async more => {
      expect(await issuesOf({ ...basket, ...more }, Basket)).toEqual([]);
    },
  );
});

describe('a validator of the author', () => {
  const custom =
    (validate: () => boolean | Promise<boolean>): PropertyDecorator =>
    (target, propertyName) =>
      registerDecorator({
        name: 'custom',
        target: target.constructor,
        propertyName: propertyName as string,
        async: true,
        validator: { validate, defaultMessage: () => 'is taken' },
      });

  it('may be asynchronous', async () => {
    class User {
      @custom(() => Promise.resolve(false)) name!: string;
    }
    expect(await issuesOf({ name: 'x' }, User)).toEqual([['name', 'is taken']]);
  });

  it('is not taken for an issue when it throws', async () => {
    class User {
      @custom(() => Promise.reject(new Error('database down')))
      name!: string;
    }
    await expect(check({ name: 'x' }, User)).rejects.toThrow('database down');
  });
});
