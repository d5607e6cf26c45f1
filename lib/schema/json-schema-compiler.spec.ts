import { compileJsonSchema } from './json-schema-compiler.js';
import { SchemaError } from './schema.error.js';
import type { JsonSchema } from './types.js';

const ORDER: JsonSchema = {
  type: 'object',
  properties: {
    email: { type: 'string', format: 'email' },
    'a/b~c': { type: 'integer' },
    lines: {
      type: 'array',
      items: { type: 'object', properties: { street: { type: 'string' } }, required: ['street'] },
    },
    tags: { type: 'object', propertyNames: { pattern: '^t' }, additionalProperties: { type: 'string' } },
  },
  required: ['email'],
  dependentRequired: { lines: ['tags'] },
  additionalProperties: false,
};

const issuesOf = (schema: JsonSchema, value: unknown) => {
  const result = compileJsonSchema(schema, 'output').validate(value);
  return 'ok' in result && !result.ok ? result.issues : [];
};

describe('issues of JSON Schema', () => {
  it.each([
    ['a missing property', {}, [['email', "must have required property 'email'"]]],
    ['an unknown property', { email: 'a@b.co', x: 1 }, [['x', 'must NOT have additional properties']]],
    ['a format', { email: 'secret' }, [['email', 'must match format "email"']]],
    ['an escaped property', { email: 'a@b.co', 'a/b~c': 'x' }, [['a/b~c', 'must be integer']]],
    [
      'a missing property in a list',
      { email: 'a@b.co', lines: [{ street: 's' }, {}], tags: {} },
      [['lines[1].street', "must have required property 'street'"]],
    ],
    [
      'a property that another one asks for',
      { email: 'a@b.co', lines: [] },
      [['tags', 'must have property tags when property lines is present']],
    ],
    [
      'a numeric key of an object',
      { email: 'a@b.co', tags: { t: 'x', t1: 1 } },
      [['tags.t1', 'must be string']],
    ],
    ['the root', 'text', [['', 'must be object']]],
    [
      'all of them at once',
      { email: 1, 'a/b~c': 'x' },
      [
        ['email', 'must be string'],
        ['a/b~c', 'must be integer'],
      ],
    ],
  ])('name %s', (_, value, expected) => {
    expect(issuesOf(ORDER, value)).toEqual(expected.map(([path, message]) => ({ path, message })));
  });

  it('name a property whose name is refused', () => {
    expect(issuesOf(ORDER, { email: 'a@b.co', tags: { bad: 'x' } })).toContainEqual({
      path: 'tags.bad',
      message: 'property name must be valid',
    });
  });

  it('name an unevaluated property', () => {
    const schema = { allOf: [{ properties: { a: true } }], unevaluatedProperties: false };
    expect(issuesOf(schema, { a: 1, b: 2 })).toMatchObject([{ path: 'b' }]);
  });

  it.each(['__proto__', 'constructor', 'toString'])('name %s like any other unknown property', key => {
    const value: unknown = JSON.parse(`{ "email": "a@b.co", "${key}": { "admin": true } }`);
    expect(issuesOf(ORDER, value)).toMatchObject([{ path: key }]);
  });

  it('do not take what every object inherits for a property that was given', () => {
    expect(issuesOf({ type: 'object', required: ['constructor'] }, {})).toMatchObject([
      { path: 'constructor' },
    ]);
  });

  it('are 100 at most', () => {
    const schema = { type: 'array', items: { type: 'string' } };
    expect(issuesOf(schema, Array<number>(1000).fill(1))).toHaveLength(100);
  });
});

describe('compileJsonSchema', () => {
  it('keeps $schema and unknown keywords', () => {
    const schema = {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      properties: { region: { type: 'string', 'x-mcp-header': 'Region', format: 'x-unknown' } },
    };
    expect(compileJsonSchema(schema, 'input').jsonSchema).toEqual(schema);
  });

  it('compiles equal schemas once, because handlers write them in place', () => {
    const compile = (title: string) => compileJsonSchema({ type: 'object', title }, 'input');
    expect(compile('form').validate).toBe(compile('form').validate);
    expect(compile('form').validate).not.toBe(compile('other').validate);
  });

  it('hands values back as given, without defaults', () => {
    const { validate } = compileJsonSchema(
      { properties: { limit: { type: 'number', default: 10 } } },
      'input',
    );
    const value = {};
    expect(validate(value)).toEqual({ ok: true, value: {} });
    expect(validate(value)).toHaveProperty('value', value);
  });

  it.each([
    ['properties', { properties: { a: {} } }],
    ['a union', { anyOf: [{ type: 'object' }, { properties: { a: {} } }] }],
    ['an intersection', { allOf: [{ description: 'any' }, { type: 'object' }] }],
    [
      'a local $ref',
      { $ref: '#/$defs/A', $defs: { A: { oneOf: [{ $ref: '#/$defs/B' }] }, B: { type: 'object' } } },
    ],
  ])('adds the type to an input of %s', (_, schema) => {
    const { jsonSchema, validate } = compileJsonSchema(schema, 'input');
    expect(jsonSchema).toEqual({ type: 'object', ...schema });
    expect(validate('text')).toMatchObject({ ok: false });
  });

  it.each([
    ['an empty schema', {}],
    ['a string', { type: 'string' }],
    ['an object or null', { type: ['object', 'null'] }],
    ['a union with a string', { oneOf: [{ type: 'object' }, { type: 'string' }] }],
    ['a $ref to itself', { $ref: '#' }],
    ['a circle of unions', { $ref: '#/$defs/A', $defs: { A: { anyOf: [{ $ref: '#/$defs/A' }] } } }],
    ['a $ref to nowhere', { $ref: '#/$defs/A' }],
    ['a $ref to an anchor', { $ref: '#a', $defs: { A: { $anchor: 'a', type: 'object' } } }],
  ])('refuses %s as input', (_, schema) => {
    expect(() => compileJsonSchema(schema, 'input')).toThrow(SchemaError);
    expect(() => compileJsonSchema(schema, 'input')).toThrow('an input schema must describe an object');
  });

  it.each([
    [
      'an unknown type',
      { type: 'strnig' },
      'invalid: schema/type must be equal to one of the allowed values',
    ],
    [
      'an unknown dialect',
      { $schema: 'https://example.com/x' },
      'no schema with key or ref "https://example.com/x"',
    ],
    [
      'a remote $ref',
      { $ref: 'https://example.com/x' },
      'refers to https://example.com/x, which is not in it: add it',
    ],
    [
      'a $ref to nowhere',
      { $ref: '#/$defs/A' },
      'refers to #/$defs/A, which is not in it: add it under $defs',
    ],
    ['a broken pattern', { type: 'string', pattern: '[' }, 'Invalid regular expression'],
    ['an asynchronous schema', { $async: true, type: 'object' }, 'remove the keyword'],
    ['a BigInt', { const: 1n }, 'must be plain JSON data'],
    ['a list', [] as unknown as JsonSchema, 'must be an object'],
  ])('refuses %s', (_, schema, message) => {
    expect(() => compileJsonSchema(schema, 'output')).toThrow(SchemaError);
    expect(() => compileJsonSchema(schema, 'output')).toThrow(message);
  });

  it.each([
    ['2020-12 unless told otherwise', {}, false],
    ['2020-12 by name', { $schema: 'https://json-schema.org/draft/2020-12/schema' }, false],
    ['draft-07 by name', { $schema: 'http://json-schema.org/draft-07/schema#' }, true],
  ])('reads %s', (_, dialect, accepted) => {
    // `prefixItems` is new in 2020-12; draft-07 does not know it.
    const schema = { ...dialect, type: 'array', prefixItems: [{ type: 'string' }] };
    expect(compileJsonSchema(schema, 'output').validate([1])).toHaveProperty('ok', accepted);
  });

  it('keeps schemas with the same $id apart', () => {
    const identified = (type: string) => ({ $id: 'https://x.dev/s', type, $defs: { A: { $id: 'a', type } } });
    const text = compileJsonSchema(identified('string'), 'output');
    const number = compileJsonSchema(identified('number'), 'output');
    expect(text.validate('x')).toHaveProperty('ok', true);
    expect(number.validate('x')).toHaveProperty('ok', false);
  });
});
