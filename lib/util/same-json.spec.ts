import fc from 'fast-check';
import { isDeepStrictEqual } from 'node:util';
import { isSameJson } from './same-json.js';

const parsed = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
const json = fc.jsonValue({ maxDepth: 2 }).map(parsed);
const small = fc.oneof(
  json,
  fc.constantFrom<unknown>({}, [], null, 0, '', { a: [] }, { a: {} }, { b: [] }, [null]),
);

it('agrees with Node', () => {
  fc.assert(
    fc.property(small, small, (one, other) => {
      expect(isSameJson(one, other)).toBe(isDeepStrictEqual(one, other));
      expect(isSameJson(one, parsed(one))).toBe(true);
      expect(isSameJson([one, other], [other, one])).toBe(isDeepStrictEqual(one, other));
    }),
    { numRuns: 1000 },
  );
});
