import { routeValues } from './route-values.js';
import type { NamedArgument, Place } from './route-types.js';

const argument = (place: Place, name: string, key = name): NamedArgument => ({
  place,
  name,
  key,
  schema: {},
  isRequired: place === 'path',
  isChecked: false,
});
const schema = { jsonSchema: {}, validate: () => ({ ok: true, value: undefined }) as const };
const ARGS = [argument('path', 'id'), argument('query', 'limit'), argument('body', 'newName', 'name')];
const valuesOf = (data: unknown, rest?: Place) =>
  routeValues({ args: ARGS, schema, ...(rest && { rest }) }, data, 'tool "x"');

describe('the values of a route', () => {
  it.each<[string, object, object]>([
    [
      'numbers of the URL are texts',
      { id: 7, limit: 5, newName: 5 },
      { params: { id: '7' }, query: { limit: '5' }, body: { name: 5 } },
    ],
    ['null is no parameter of a URL', { id: 7, limit: null }, { params: { id: '7' }, query: {}, body: {} }],
    [
      'an empty list is no parameter of a URL',
      { id: 7, limit: [] },
      { params: { id: '7' }, query: {}, body: {} },
    ],
    [
      'a list is a list of texts',
      { id: true, limit: [1, null, 'a'] },
      { params: { id: 'true' }, query: { limit: ['1', 'a'] }, body: {} },
    ],
    [
      'an object has texts',
      { id: 7, limit: { max: 1 } },
      { params: { id: '7' }, query: { limit: { max: '1' } }, body: {} },
    ],
    [
      'the body keeps null',
      { id: 7, newName: null },
      { params: { id: '7' }, query: {}, body: { name: null } },
    ],
    [
      'other names reach no part',
      { id: 7, name: 'x', 'query.limit': 1 },
      { params: { id: '7' }, query: {}, body: {} },
    ],
  ])('%s', (_, data, expected) => {
    expect(valuesOf(data)).toEqual(expected);
  });

  it.each([
    ['nothing', undefined],
    ['null', null],
    ['an object', {}],
    ['a list', ['7']],
    ['an empty text', ''],
    ['.', '.'],
    ['..', '..'],
    ['half a character', '\ud800'],
  ])('refuse for the path: %s', (_, id) => {
    expect(() => valuesOf({ id })).toThrow(/Invalid arguments for tool "x": id: must/);
  });

  it('pass all others to an open body, where no name reaches another part', () => {
    const data: unknown = JSON.parse('{"id":"1","other":2,"__proto__":{"isAdmin":true}}');
    const { params, query, body } = valuesOf(data, 'body');
    expect([params, query]).toEqual([{ id: '1' }, {}]);
    expect(JSON.stringify(body)).toBe('{"other":2,"__proto__":{"isAdmin":true}}');
    expect((body as { isAdmin?: unknown }).isAdmin).toBeUndefined();
  });
});
