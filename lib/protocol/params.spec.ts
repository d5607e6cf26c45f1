import { argumentsOf } from './params.js';

/** A list that fails where its indexes are made into texts, which takes longer than parsing a long list. */
const list = (length: number) =>
  new Proxy(new Array<number>(length).fill(1), {
    ownKeys: () => {
      throw new Error('the indexes were listed');
    },
  });

describe('arguments', () => {
  it('may hold 10,000 values, however they are nested', () => {
    const args = { list: list(4998), nested: [[list(4998)]] };
    expect(argumentsOf({ arguments: args })).toBe(args);
    expect(() => argumentsOf({ arguments: { ...args, more: 1 } })).toThrow('at most 10000 values');
  });

  it('are refused for a long list without a look at each of its values', () => {
    expect(() => argumentsOf({ arguments: { list: list(1_000_000) } })).toThrow('at most 10000 values');
  });

  it('lose fields called __proto__ in lists, too', () => {
    const given = JSON.parse('{"list":[{"__proto__":{"a":1},"b":2}]}') as object;
    const args = argumentsOf({ arguments: given });
    expect(JSON.stringify(args)).toBe('{"list":[{"b":2}]}');
  });
});
