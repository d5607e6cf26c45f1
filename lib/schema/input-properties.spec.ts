import { enumValues, promptArguments } from './input-properties.js';
import { SchemaError } from './schema.error.js';

describe('enumValues', () => {
  it.each([
    ['an enum', { enum: ['a', 'b'] }, ['a', 'b']],
    ['numbers and null', { enum: [1, 2, null] }, ['1', '2']],
    ['a const', { const: 'a' }, ['a']],
    ['a boolean', { type: 'boolean' }, ['true', 'false']],
    ['anyOf consts', { anyOf: [{ const: 'a' }, { const: 'b' }, { const: 'a' }] }, ['a', 'b']],
    ['oneOf consts', { oneOf: [{ const: 'a', title: 'A' }, { enum: ['b', 'c'] }] }, ['a', 'b', 'c']],
    ['an enum or null', { anyOf: [{ enum: ['a'] }, { type: 'null' }] }, ['a']],
    ['items', { type: 'array', items: { enum: ['a'] } }, ['a']],
    ['a $ref', { $ref: '#/$defs/Color' }, ['red', 'blue']],
    ['a list of a $ref', { type: 'array', items: { $ref: '#/$defs/Color' } }, ['red', 'blue']],
    ['a $ref through a $ref', { $ref: '#/$defs/Alias~1x' }, ['red', 'blue']],
    ['a string', { type: 'string' }, undefined],
    ['a partly open union', { anyOf: [{ const: 'a' }, { type: 'string' }] }, undefined],
    ['a circle', { $ref: '#/$defs/Loop' }, undefined],
    ['a circle of unions', { $ref: '#/$defs/Union' }, undefined],
    ['a $ref to nowhere', { $ref: '#/$defs/None' }, undefined],
    ['a remote $ref', { $ref: 'https://example.com/x' }, undefined],
    ['anything', true, undefined],
  ])('of %s', (_, property, expected) => {
    const schema = {
      type: 'object',
      properties: { property },
      $defs: {
        Color: { enum: ['red', 'blue'] },
        'Alias/x': { $ref: '#/$defs/Color' },
        Loop: { $ref: '#/$defs/Loop' },
        Union: { anyOf: [{ $ref: '#/$defs/Union' }] },
      },
    };
    expect(enumValues(schema, 'property')).toEqual(expected);
  });

  it('looks behind a $ref at the root', () => {
    const schema = { $ref: '#/$defs/A', $defs: { A: { properties: { a: { const: 1 } } } } };
    expect(enumValues(schema, 'a')).toEqual(['1']);
  });

  it.each(['missing', 'toString', '__proto__'])('has nothing for %s', property => {
    expect(enumValues({ type: 'object', properties: {} }, property)).toBeUndefined();
    expect(enumValues({ type: 'object' }, property)).toBeUndefined();
  });
});

describe('promptArguments', () => {
  it('lists the properties in their order', () => {
    const schema = {
      type: 'object',
      properties: {
        topic: { type: 'string', title: 'Topic', description: 'What about' },
        tone: { $ref: '#/$defs/Tone' },
        own: { $ref: '#/$defs/Tone', description: 'Its own' },
        any: true,
      },
      required: ['topic'],
      $defs: { Tone: { enum: ['dry'], description: 'How' } },
    };
    expect(promptArguments(schema)).toEqual([
      { name: 'topic', title: 'Topic', description: 'What about', required: true },
      { name: 'tone', description: 'How', required: false },
      { name: 'own', description: 'Its own', required: false },
      { name: 'any', required: false },
    ]);
  });

  it('lists none for an empty object', () => {
    expect(promptArguments({ type: 'object' })).toEqual([]);
  });

  it('refuses a union, which hides them', () => {
    const union = { type: 'object', anyOf: [{ properties: { a: {} } }] };
    expect(() => promptArguments(union)).toThrow(SchemaError);
    expect(() => promptArguments(union)).toThrow('the properties of one object');
  });
});
