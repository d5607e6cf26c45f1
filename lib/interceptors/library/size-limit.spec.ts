import 'reflect-metadata';
import fc from 'fast-check';
import { invocationOf } from '../../../test/fixtures/invocation.js';
import { JsonSize } from './json-size.js';
import { SizeLimit, type SizeLimitOptions } from './size-limit.js';

const unlimited = { maxBytes: Infinity, maxDepth: 1000, maxNodes: Infinity };
const check = (payload: unknown, options?: SizeLimitOptions) =>
  new (SizeLimit(options))().check(invocationOf(payload));

describe('JsonSize', () => {
  it('is what JSON.stringify writes', () => {
    const text = fc.string({ unit: 'binary' });
    const value = fc.anything({
      values: [
        text,
        fc.constant('\ud800a\udc00'),
        fc.double(),
        fc.boolean(),
        fc.constant(undefined),
        fc.date(),
      ],
      key: text,
    });
    fc.assert(
      fc.property(value, given => {
        const json = JSON.stringify({ given: [given], also: given });
        return new JsonSize(unlimited).add({ given: [given], also: given }).bytes === Buffer.byteLength(json);
      }),
      { numRuns: 500 },
    );
  });

  it('does not read a text that is far too long', () => {
    const size = new JsonSize({ ...unlimited, maxBytes: 10 }).add(['x'.repeat(1000), 'y']);
    expect(size).toMatchObject({ excess: 'maxBytes', nodes: 2 });
  });
});

describe('SizeLimit', () => {
  it.each<[string, unknown, SizeLimitOptions, boolean]>([
    ['as many bytes', { a: 'é' }, { maxBytes: 10 }, true],
    ['a byte too many', { a: 'é' }, { maxBytes: 9 }, false],
    ['as deep', { a: [{}] }, { maxDepth: 3 }, true],
    ['too deep', { a: [{}] }, { maxDepth: 2 }, false],
    ['as many values', [1, 2], { maxNodes: 3 }, true],
    ['a value too many', [1, 2, 3], { maxNodes: 3 }, false],
    ['nothing', undefined, {}, true],
  ])('%s', (_, payload, options, valid) => {
    expect((check(payload, options) as { valid?: boolean }).valid ?? false).toBe(valid);
  });

  it('says the limit', () => {
    expect(check('x'.repeat(1001), { maxBytes: 1000 })).toEqual({
      message: 'The payload is larger than 1,000 bytes',
      severity: 'error',
    });
  });

  it('throws for what JSON cannot say, and ends for what has no end', () => {
    expect(() => check({ a: 1n })).toThrow(TypeError);
    const payload: Record<string, unknown> = {};
    payload.self = payload;
    expect(check(payload)).toMatchObject({ message: 'The payload is nested deeper than 64 levels' });
  });

  it.each([{ maxBytes: 0 }, { maxNodes: NaN }, { maxDepth: 1001 }])('checks its options: %j', options => {
    expect(() => SizeLimit(options)).toThrow(RangeError);
  });
});
