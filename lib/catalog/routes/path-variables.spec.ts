import { pathVariables } from './path-variables.js';

describe('the variables of a path', () => {
  it('have names, and are optional in braces', () => {
    expect(pathVariables('/orders/:id{/:item}')).toEqual([
      { name: 'id', isRequired: true },
      { name: 'item', isRequired: false },
    ]);
  });

  it.each([
    ['a wildcard', '/files/*path', /the wildcard in "\/files\/\*path"/],
    ['a pattern of Fastify', '/orders/:id(^\\d+$)', /the pattern in "\/orders\/:id\(/],
  ])('refuse %s', (_, path, reason) => {
    expect(() => pathVariables(path)).toThrow(reason);
  });
});
