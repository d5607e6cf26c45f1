import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { digestOf } from './digest.js';

const keys = fc.oneof(fc.constantFrom('a', 'b', '__proto__', '1'), fc.string());
/** As it comes from the wire: `JSON.stringify` writes -0 as 0. */
const json = fc
  .dictionary(keys, fc.jsonValue(), { maxKeys: 40, size: 'medium' })
  .map(value => JSON.parse(JSON.stringify(value)) as unknown);
const small = fc.oneof(
  json,
  fc.constantFrom<unknown>({}, [], [[]], { a: 1 }, { a: '1' }, { b: 1 }, { a: [1] }),
);

/** The same value with its keys in the opposite order, on each level. */
const reversed = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).reverse();
  return Object.fromEntries(entries.map(([key, item]) => [key, reversed(item)]));
};

it('is the same for another order of keys', () => {
  fc.assert(
    fc.property(json, value => {
      expect(digestOf(reversed(value))).toBe(digestOf(value));
    }),
  );
});

it('is the same only for an equal value', () => {
  fc.assert(
    fc.property(small, small, (one, other) => {
      expect(digestOf(one) === digestOf(other)).toBe(isDeepStrictEqual(one, other));
    }),
    { numRuns: 500 },
  );
});
