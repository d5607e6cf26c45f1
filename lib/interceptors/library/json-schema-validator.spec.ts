import 'reflect-metadata';
import { INTERCEPTOR_METADATA } from '../decorators/interceptor.decorators.js';
import { SchemaError } from '../../schema/schema.error.js';
import { invocationOf } from '../../../test/fixtures/invocation.js';
import { JsonSchemaValidator, type JsonSchemaRule } from './json-schema-validator.js';

const schema = {
  type: 'object',
  properties: { city: { type: 'string', minLength: 2 }, tags: { items: { type: 'string' } } },
  required: ['city'],
};
const check = (rules: JsonSchemaRule[], payload: unknown, rest = {}) =>
  new (JsonSchemaValidator({ rules }))().check(invocationOf(payload, rest));
const response = { phase: 'response', request: { name: 'search' } };

describe('JsonSchemaValidator', () => {
  it.each<[string, JsonSchemaRule, unknown, object, string[]]>([
    [
      'arguments',
      { schema },
      { name: 'a', arguments: { city: 'x', tags: [1] } },
      {},
      ['arguments.city', 'arguments.tags[0]'],
    ],
    ['no arguments', { schema }, { name: 'a' }, {}, ['arguments.city']],
    ['another tool', { schema, target: 'search*' }, { name: 'a' }, {}, []],
    ['this tool', { schema, target: 'search*' }, { name: 'search_all' }, {}, ['arguments.city']],
    [
      'this tool, whatever else there is',
      { schema, target: 'search' },
      { name: 'search', uri: 'a://b' },
      {},
      ['arguments.city'],
    ],
    ['another phase', { schema }, {}, response, []],
    [
      'a result',
      { schema, phase: 'response', target: 'search' },
      { structuredContent: {} },
      response,
      ['structuredContent.city'],
    ],
    ['no result', { schema, phase: 'response' }, { content: [] }, response, ['structuredContent']],
    ['an error', { schema, phase: 'response' }, { isError: true }, response, []],
    ['an input request', { schema, phase: 'response' }, { resultType: 'input_required' }, response, []],
    ['an event of its own', { schema, event: 'a/b' }, {}, { event: 'a/b' }, ['city']],
    ['a part', { schema, part: '_meta' }, { _meta: {} }, {}, ['_meta.city']],
    [
      'an event of its own, by name',
      { schema, event: 'a/b', target: 'x' },
      { name: 'x' },
      { event: 'a/b' },
      ['city'],
    ],
    [
      'a resource, whatever else there is',
      { schema, event: 'resources/read', target: 'a://*' },
      { uri: 'a://b', name: 'c' },
      { event: 'resources/read' },
      ['city'],
    ],
    [
      'a resource',
      { schema, event: 'resources/read', target: 'a://*' },
      { uri: 'a://b' },
      { event: 'resources/read' },
      ['city'],
    ],
  ])('checks %s', async (_, rule, payload, rest, paths) => {
    const result = await check([rule], payload, rest);
    expect(Array.isArray(result) ? result.map(({ path }: { path: string }) => path) : []).toEqual(paths);
  });

  it('fails where it is not known what a result is of', async () => {
    const rule = { schema, target: 'weather' };
    const unknown = { phase: 'response' } as const;
    await expect(check([{ ...rule, phase: 'response' }], {}, unknown)).rejects.toThrow('is unknown');
    expect(await check([{ schema, phase: 'response' }], { structuredContent: {} }, unknown)).toHaveLength(1);
  });

  it('applies all rules, and hooks their events alone', async () => {
    const rules = [
      { schema },
      { schema: { required: ['b'] } },
      { schema, event: 'a/b', phase: 'response' as const },
    ];
    expect(await check(rules, { name: 'a' })).toHaveLength(2);
    const method = (JsonSchemaValidator({ rules }).prototype as { check: object }).check;
    expect(Reflect.getMetadata(INTERCEPTOR_METADATA, method)).toEqual([
      {
        type: 'validation',
        options: {
          name: 'json-schema-validator',
          final: true,
          hooks: [
            { events: ['tools/call'], phase: 'request' },
            { events: ['tools/call'], phase: 'request' },
            { events: ['a/b'], phase: 'response' },
          ],
        },
      },
    ]);
  });

  it('refuses a schema that is none', () => {
    expect(() => JsonSchemaValidator({ rules: [{ schema: { type: 'nothing' } }] })).toThrow(SchemaError);
  });
});
