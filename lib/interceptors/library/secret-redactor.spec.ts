import 'reflect-metadata';
import fc from 'fast-check';
import { invocationOf } from '../../../test/fixtures/invocation.js';
import { SecretRedactor, type SecretRedactorOptions } from './secret-redactor.js';
import { ScanLimitError } from './secrets/scan.js';
import { SECRETS, TOKENS } from '../../../test/fixtures/secrets.js';

const redact = (payload: unknown, options?: SecretRedactorOptions) => {
  const result = new (SecretRedactor(options))().redact(invocationOf(payload));
  return result as { modified: true; payload: unknown; info: unknown } | undefined;
};
const [token] = SECRETS['github-token'];
const base64 = (text: string) => Buffer.from(text).toString('base64');
const AWS_SECRET = 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY';
const AWS_HIDDEN = '[REDACTED:aws-secret-access-key]';
const HIDDEN = '[REDACTED:github-token]';

describe('SecretRedactor', () => {
  it.each([
    [
      'text content',
      { content: [{ type: 'text', text: `a ${token} b` }] },
      { content: [{ type: 'text', text: `a ${HIDDEN} b` }] },
    ],
    [
      'structured content',
      { structuredContent: { a: [{ b: token }] } },
      { structuredContent: { a: [{ b: HIDDEN }] } },
    ],
    ['arguments', { name: 't', arguments: { uri: token } }, { name: 't', arguments: { uri: HIDDEN } }],
    ['a resource', { contents: [{ uri: 'a:b', text: token }] }, { contents: [{ uri: 'a:b', text: HIDDEN }] }],
    ['a key', { [token]: 1, b: 2 }, { [HIDDEN]: 1, b: 2 }],
    ['JSON in a string', { a: JSON.stringify({ b: token }) }, { a: JSON.stringify({ b: HIDDEN }) }],
    ['base64 in a string', { a: `see ${base64(`x ${token}`)}.` }, { a: `see ${HIDDEN}.` }],
    [
      'bytes that are text',
      { contents: [{ uri: 'a:b', blob: base64(`x ${token}`) }] },
      { contents: [{ uri: 'a:b', blob: base64(`x ${HIDDEN}`) }] },
    ],
    [
      'what is no image',
      { content: [{ type: 'image', data: token, mimeType: 'image/png' }] },
      { content: [{ type: 'image', data: HIDDEN, mimeType: 'image/png' }] },
    ],
    [
      'a key in place of an image',
      { content: [{ type: 'image', data: SECRETS['aws-access-key-id'][0] }] },
      { content: [{ type: 'image', data: '[REDACTED:aws-access-key-id]' }] },
    ],
    [
      'what only looks like an image',
      { arguments: { type: 'image', data: base64(token) } },
      { arguments: { type: 'image', data: HIDDEN } },
    ],
    ['what writes itself', { a: { toJSON: () => ({ b: token }) } }, { a: { b: HIDDEN } }],
    ['the root', token, HIDDEN],
    ['an array under a telling key', { secretAccessKey: [AWS_SECRET] }, { secretAccessKey: [AWS_HIDDEN] }],
    ['arrays within it', { secretAccessKey: [[AWS_SECRET]] }, { secretAccessKey: [[AWS_HIDDEN]] }],
    [
      'an object under a telling key',
      { aws_secret: { value: AWS_SECRET } },
      { aws_secret: { value: AWS_HIDDEN } },
    ],
    [
      'objects of an array under it',
      { aws_secret: [{ value: AWS_SECRET }] },
      { aws_secret: [{ value: AWS_HIDDEN }] },
    ],
    ['keys that tell together', { aws: { secret: AWS_SECRET } }, { aws: { secret: AWS_HIDDEN } }],
  ])('redacts %s', (_, payload, expected) => {
    expect(redact(payload)?.payload).toEqual(expected);
  });

  it.each([
    [
      'an image',
      { content: [{ type: 'image', data: Buffer.alloc(99, 0xa7c3e1, 'hex').toString('base64') }] },
    ],
    [
      'a random image',
      {
        content: [
          {
            type: 'image',
            mimeType: 'image/png',
            data: 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk',
          },
        ],
      },
    ],
    [
      'bytes',
      { contents: [{ uri: 'a:b', blob: '/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAAgGBgcGBQgHBwcJCQgKDBQN' }] },
    ],
    ['a cursor', { tools: [], nextCursor: SECRETS['high-entropy'][0] }],
    ['an address', { name: SECRETS['high-entropy'][0], arguments: {} }],
    [
      'a Git SHA under a telling key',
      { aws_secret: { commit: '3b18e512dba79e4c8300dd08aeb37f8e728b8dad', id: ['42'] } },
    ],
    ['what no key tells of', { items: [AWS_SECRET], aws: { region: [AWS_SECRET] } }],
    ['sealed state', { requestState: SECRETS.jwt[0] }],
    ['nothing', undefined],
    ['numbers', { a: [1, null, true] }],
  ])('leaves %s alone', (_, payload) => {
    expect(redact(payload)).toBeUndefined();
  });

  it('keeps two keys that are redacted alike apart, and those named as a prototype', () => {
    const payload = JSON.parse(`{"${token}":1,"${token}x":2,"__proto__":{"a":"${token}"}}`) as object;
    const result = redact(payload)?.payload as object;
    expect(JSON.stringify(result)).toBe(`{"${HIDDEN}":1,"${HIDDEN}#2":2,"__proto__":{"a":"${HIDDEN}"}}`);
  });

  it('shares what it did not change, and counts what it did', () => {
    const payload = Object.freeze({ a: Object.freeze({ b: 'c' }), d: Object.freeze([token, token]) });
    const result = redact(payload);
    expect((result?.payload as typeof payload).a).toBe(payload.a);
    expect(result).toMatchObject({ modified: true, info: { redacted: { 'github-token': 2 } } });
  });

  it.each([
    ['depth', { a: { b: {} } }, { maxDepth: 2 }],
    ['values', [1, 2, 3], { maxNodes: 3 }],
    ['text', { key: 'text' }, { maxChars: 6 }],
  ])('throws beyond its limit of %s', (_, payload, limits) => {
    expect(() => redact(payload, { limits })).toThrow(ScanLimitError);
  });

  it('throws for a payload that never ends', () => {
    const payload: Record<string, unknown> = {};
    payload.self = payload;
    expect(() => redact(payload)).toThrow(ScanLimitError);
  });

  it('is a class of its own each time, whose name says what it is', () => {
    expect(SecretRedactor({ name: 'mine' }).name).toBe('SecretRedactor(mine)');
    expect(SecretRedactor()).not.toBe(SecretRedactor());
  });

  // Values under these names are random by nature.
  const word = fc.stringMatching(/^[a-z]{1,30}$/).filter(text => !['uri', 'name', 'cursor'].includes(text));
  const words = fc.array(word, { maxLength: 12 }).map(list => list.join(' '));

  it('leaves any structure of words alone', () => {
    const payload = fc.object({ key: word, values: [words, fc.integer(), fc.constant(null)], maxDepth: 4 });
    fc.assert(fc.property(payload, value => redact(value) === undefined));
  });

  it('lets no secret through, whatever it stands in', () => {
    const planted = fc.constantFrom(...TOKENS);
    const text = fc.tuple(
      words,
      fc.constantFrom(' ', '\n', '"', "'", '=', ',', '\\', '\t'),
      planted,
      fc.constantFrom(' ', '"', '\n', '', ', '),
      words,
    );
    const carrier = fc.letrec<{ node: unknown }>(tie => ({
      node: fc.oneof(
        { maxDepth: 4 },
        text.map(([before, left, secret, right, after]) => `${before}${left}${secret}${right}${after}`),
        fc.array(tie('node'), { minLength: 1, maxLength: 3 }),
        fc.dictionary(fc.oneof(word, planted), tie('node'), { minKeys: 1, maxKeys: 3 }),
        tie('node').map(node => JSON.stringify(node)),
        planted.map(secret => base64(`the key: ${secret}`)),
      ),
    })).node;
    fc.assert(
      fc.property(carrier, payload => {
        const left = JSON.stringify(redact(payload)?.payload ?? payload);
        return TOKENS.every(
          secret => !left.includes(secret) && !left.includes(JSON.stringify(secret).slice(1, -1)),
        );
      }),
      { numRuns: 500 },
    );
  });
});
