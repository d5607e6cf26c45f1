import fc from 'fast-check';
import { z } from 'zod';
import { linearPattern, PatternError } from './linear-pattern.js';

const TEXTS = [
  ...[
    '',
    'a',
    'ab',
    'aab',
    'A',
    '7',
    'é',
    'ß',
    'λ',
    'Ж',
    '-',
    '_',
    '/',
    ']',
    '[',
    '^',
    '\\',
    '$',
    '.',
    '(a)',
  ],
  ...[
    '\n',
    '\r',
    '\u2028',
    ' ',
    '\u00a0',
    '\ufeff',
    '\v',
    '\b',
    '\0',
    '\x01',
    '😀',
    '\ud83d',
    'a\n',
    '\na',
    'a b',
  ],
];

const AGREES = [
  ...['a', '^a$', 'a|b', '^.$', '^[^]$', '[]', '\\s', '^\\S$', '^[\\s]$', '^[\\S]$', '^[^\\s]$', '^[^\\S]$'],
  ...['\\d', '^\\D$', '\\w', '^\\W$', '\\ba', 'a\\B', '[\\b]', '\\0', '\\cA', '\\x41', '\\u0041', '\\u{41}'],
  ...['\\ud83d\\ude00', '^\\u{1f600}$', '[\\u{1f5ff}-\\u{1f601}]', '^[\\ud83d]$', '\\v', '\\/', '[\\/\\-]'],
  ...[
    '\\p{L}',
    '^\\p{Lu}$',
    '^\\P{L}$',
    '\\p{Letter}',
    '\\p{gc=Nd}',
    '\\p{Script=Greek}',
    '\\p{sc=Cyrillic}',
  ],
  ...[
    '[\\p{L}\\d_]',
    '[[]',
    '[\\]]',
    '[^\\]]',
    '[\\^a]',
    '[a^]',
    '[a-]',
    '[-a]',
    '[+--]',
    '[.]',
    '[(?=]',
    '[{]',
  ],
  ...['(?:ab)+', '(?<name>a)b', '(a)(b)', '^a{2}b', '^a{1,2}b$', '^a{1,}b', 'a*?b', '\\(a\\)', '\\$', '^$'],
  ...['^(a+)+$', '[[:alpha:]', '\\p{ASCII_Hex_Digit}', '\\.', '[\\w.]', '[[]\\s', '[[\\]]\\S', '[(?<]a>.'],
];

it.each(AGREES)('%s matches what it does in ECMAScript', source => {
  const { test } = linearPattern(source);
  const native = new RegExp(source, 'u');
  expect(TEXTS.filter(text => test(text))).toEqual(TEXTS.filter(text => native.test(text)));
});

it('patterns put together at random match what they do in ECMAScript', () => {
  const atom = fc.constantFrom(
    ...['a', 'b', '.', '\\s', '\\S', '\\d', '\\w', '\\W', '[^]', '[ab]', '[^a]', '[\\s\\d]', '[^\\S]', '\\/'],
    ...[
      '\\p{L}',
      '\\P{L}',
      '\\u0041',
      '[[\\]]',
      '[[]',
      '[(?<]',
      '\\b',
      '^',
      '$',
      '\\n',
      '\\u{1f600}',
      '-',
      ' ',
      '[.-]',
    ],
  );
  const quantified = fc
    .tuple(atom, fc.constantFrom('', '', '*', '+', '?', '{2}', '{0,2}', '*?'))
    .map(([one, often]) => (/^(?:\\b|[\^$])$/.test(one) ? one : one + often));
  const source = fc.letrec<{ node: string; group: string }>(tie => ({
    node: fc.oneof(
      { maxDepth: 3 },
      quantified,
      fc.tuple(tie('node'), tie('node')).map(parts => parts.join('')),
      fc.tuple(tie('node'), tie('node')).map(parts => `(?:${parts.join('|')})`),
      tie('group'),
    ),
    group: tie('node').map(node => `(${node})*`),
  })).node;
  const text = fc.string({
    unit: fc.constantFrom('a', 'b', 'A', '1', ' ', '\n', '\u00a0', '😀', 'é', '/', '-'),
    maxLength: 6,
  });
  fc.assert(
    fc.property(source, text, (pattern, given) => {
      expect(linearPattern(pattern).test(given)).toBe(new RegExp(pattern, 'u').test(given));
    }),
    { numRuns: 2000 },
  );
});

it.each([
  '(?=a)',
  '(?!a)',
  '(?<=a)',
  '(?<!a)',
  '(a)\\1',
  '(?<n>a)\\k<n>',
  'a{1001}',
  'a{0,1001}',
  '(?:a{999}b){200}c{1000}'.repeat(20),
])('%s cannot be expressed', source => {
  expect(() => linearPattern(source)).toThrow(PatternError);
});

it('a property that RE2 does not know cannot be matched', () => {
  expect(() => linearPattern('\\p{Script_Extensions=Greek}').test('λ')).toThrow(PatternError);
});

it.each(['(', 'a{2', '\\A', '[b-a]', '(?P<n>a)', '\\p{Nothing}', '\\Q'])('%s is no pattern', source => {
  expect(() => linearPattern(source)).toThrow(SyntaxError);
});

it('a pattern that takes exponential time in ECMAScript takes linear time', () => {
  expect(linearPattern('^(a+)+$').test('a'.repeat(100_000) + '!')).toBe(false);
});

it.each([
  ['a UUID', z.uuid()],
  ['an e-mail address', z.email()],
  ['an instant', z.iso.datetime()],
  ['base64', z.base64()],
  ['an IP address', z.ipv4()],
  ['a CIDR', z.cidrv4()],
])('what zod emits for %s can be expressed, or only looks around', (_what, schema) => {
  const { pattern } = z.toJSONSchema(schema) as { pattern?: string };
  const source = pattern ?? 'a';
  if (/\(\?<?[=!]/.test(source)) expect(() => linearPattern(source)).toThrow(PatternError);
  else expect(linearPattern(source).test('')).toBe(new RegExp(source, 'u').test(''));
});
