import { bearerToken, type BearerToken } from './bearer-token.js';

const read = (...values: string[]): BearerToken =>
  bearerToken({
    request: {},
    response: {},
    headers: { authorization: values[0] },
    rawHeaders: values.flatMap(value => ['Authorization', value]),
  });

/** A header of so many characters. */
const headerOf = (length: number) => `Bearer ${'a'.repeat(length - 'Bearer '.length)}`;

describe('the bearer token of a request', () => {
  it.each<[string, string[], BearerToken]>([
    ['is in the header', ['Bearer a-b._~+/=='], { token: 'a-b._~+/==' }],
    ['has a scheme in any case', ['bEARER a'], { token: 'a' }],
    ['has 16,384 characters at most, with its scheme', [headerOf(16_384)], { token: 'a'.repeat(16_377) }],
    ['is malformed beyond that', [headerOf(16_385)], 'malformed'],
    ['is malformed if it is empty', ['Bearer '], 'malformed'],
    ['is malformed with other characters', ['Bearer a b'], 'malformed'],
    ['is missing without a header', [], 'none'],
    ['is missing with another scheme', ['Basic YTpi'], 'none'],
    ['is missing with a scheme that only begins so', ['Bearers a'], 'none'],
    ['is repeated in two headers', ['Bearer a', 'Bearer a'], 'repeated'],
  ])('%s', (_what, headers, token) => expect(read(...headers)).toEqual(token));
});
