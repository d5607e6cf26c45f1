import { SecretDetector } from './detector.js';
import { SECRETS } from '../../../../test/fixtures/secrets.js';

const detector = new SecretDetector();
const kindsIn = (text: string) => detector.find(text).map(({ kind }) => kind);
const base64 = (text: string) => Buffer.from(text).toString('base64');
const percent = (text: string) => Buffer.from(text).toString('hex').replace(/../g, '%$&');
const unicode = (text: string) =>
  text.replace(/[^]/g, unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);

const cases = Object.entries(SECRETS).flatMap(([kind, secrets]) =>
  secrets.map(secret => [kind, secret] as const),
);

/** What somebody may do to a text so that it is not recognised. */
const DISGUISES: Readonly<Record<string, (text: string) => string>> = {
  'in prose': text => `The key is "${text}", keep it safe.`,
  'zero-width spaces': text => [...text].join('\u200b'),
  'soft hyphens': text => [...text].join('\u00ad'),
  'word joiners and marks': text => [...text].join('\u2060\u034f'),
  'control characters': text => [...text].join('\u0001'),
  'variation selectors': text => [...text].join('\ufe0f'),
  'tag characters': text => [...text].join('\u{e0041}'),
  'full width': text => text.replace(/[!-~]/g, unit => String.fromCharCode(unit.charCodeAt(0) + 0xfee0)),
  'mathematical digits': text => text.replace(/\d/g, digit => String.fromCodePoint(0x1d7ce + Number(digit))),
  'Cyrillic look-alikes': text =>
    text.replace(/[AEOPCTXaeopcx]/g, letter => 'АЕОРСТХаеорсх'['AEOPCTXaeopcx'.indexOf(letter)]),
  'typographic hyphens': text => text.replaceAll('-', '\u2011'),
  'percent-encoded': percent,
  'percent-encoded twice': text => encodeURIComponent(percent(text)),
  'partly percent-encoded': text => text.replace(/[A-Z_:-]/g, percent),
  'JSON escapes': unicode,
  'JSON in JSON': text => JSON.stringify(JSON.stringify({ text: `\n${text}` })),
  'JSON escapes in JSON': text => JSON.stringify({ text: unicode(text) }),
  'character references': text => text.replace(/[^]/g, unit => `&#${unit.charCodeAt(0)};`),
  base64,
  'base64 glued to a word': text => `data${base64(text)}`,
  'base64, URL-safe': text => Buffer.from(text).toString('base64url'),
  'base64 in lines': text => base64(`something before: ${text}`).replace(/.{20}/g, '$&\n'),
  'base64 of UTF-16': text => Buffer.from(text, 'utf16le').toString('base64'),
  'base64 of a disguise': text => base64([...text].join('\u200b')),
  'percent-encoded base64': text => percent(base64(text)),
  hexadecimal: text => Buffer.from(text).toString('hex'),
};

it.each(Object.entries(DISGUISES))('a secret is found, %s', (_, disguise) => {
  const missed = cases.filter(([, secret]) => detector.find(disguise(secret)).length === 0);
  expect(missed).toEqual([]);
});

describe('a known format', () => {
  it.each(cases)('is called by its kind: %s', (kind, secret) => {
    expect(kindsIn(secret)).toContain(kind);
  });

  it.each(
    cases.filter(([kind]) => ['aws-access-key-id', 'github-token', 'npm-token', 'stripe-key'].includes(kind)),
  )('is found in the other case: %s', (kind, secret) => {
    expect(kindsIn(secret.toUpperCase())).toContain(kind);
    expect(kindsIn(secret.toLowerCase())).toContain(kind);
  });

  it.each([
    'aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
    '{"AWS_SECRET_ACCESS_KEY": "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"}',
    '{"aws_secret_access_key": ["wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"]}',
  ])('is told by its context: %s', text => {
    expect(kindsIn(text)).toContain('aws-secret-access-key');
  });

  it('is a Git SHA in forty hexadecimal digits, whatever it is called', () => {
    const key = 'secretAccessKey';
    expect(detector.find('3b18e512dba79e4c8300dd08aeb37f8e728b8dad', { key })).toEqual([]);
  });

  it('is told by the key that it is the value of', () => {
    const [finding] = new SecretDetector({ entropy: false }).find(
      'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
      {
        key: 'secretAccessKey',
      },
    );
    expect(finding.kind).toBe('aws-secret-access-key');
  });

  it.each([
    ['a password with a slash', 'postgres://user:p/ss@db', 'user:p/ss'],
    ['a password with a slash, and a driver', 'postgresql+psycopg2://app:hunter/2x@db/prod', 'app:hunter/2x'],
    ['a password with a slash, of a broker', 'mqtts://app:hunter/2x@broker', 'app:hunter/2x'],
    ['headings', 'Basic Overview, Basic Overrides, basic Ordering and basic ozonelayer', undefined],
    ['a password with two', 'mongodb+srv://user:a/b/c@db.example.com/x', 'user:a/b/c'],
    ['no password but the port and a path', 'postgres://db:5432/a:b@c', undefined],
    ['credentials and a path with an @', 'https://jo:hunter2@example.com/@me', 'jo:hunter2'],
    ['credentials of HTTP', 'authorization: basic am86aHVudGVyMg==', 'am86aHVudGVyMg=='],
    [
      'a head within a word',
      'desk3b18e512dba79e4c8300dd08aeb37f8e728b8dad chf_AmountInSwissFrancsOfAllOurPayments',
      undefined,
    ],
    [
      'hexadecimal digits too few',
      `shpat_${'3f9a'.repeat(7)} SK${'3f9a'.repeat(7)} dop_v1_${'3f9a'.repeat(15)}`,
      undefined,
    ],
    [
      'a word in capitals',
      'TASK3f9a0c7be15d28463f9a0c7be15d2846 RISK3f9a0c7be15d28463f9a0c7be15d2846',
      undefined,
    ],
    [
      'a password in Latin-1',
      `Basic ${Buffer.from('jo:gr\u00fc\u00dfe', 'latin1').toString('base64')}`,
      Buffer.from('jo:gr\u00fc\u00dfe', 'latin1').toString('base64'),
    ],
    [
      'names in camel case',
      'Basic OnModuleInit, basic sendOrder, basic textOverflow, basic org/wiki/Domain',
      undefined,
    ],
    ['a password in Latin-1, without a digit in its base64', 'Basic YXBwOmdhcudvbg==', 'YXBwOmdhcudvbg=='],
    ['a password in Latin-1, without padding', 'Basic dXNlcjpnYXLnb25z', 'dXNlcjpnYXLnb25z'],
    ['a password in Latin-1, in letters alone', 'Basic dXNlcjpjYWbp', 'dXNlcjpjYWbp'],
    ['a password in Latin-1, of a length that has padding', 'Basic YXBwOmdhcudvbg', 'YXBwOmdhcudvbg'],
    ['a user in Latin-1', 'Basic bfxsbGVyOmNhZulz', 'bfxsbGVyOmNhZulz'],
    ['a name that is set', 'Basic OnModuleInit=1', undefined],
    ['a password in Latin-1, without a user', 'Basic OnDkc3N3b3J0', 'OnDkc3N3b3J0'],
    ['those without padding', '{"Proxy-Authorization":"Basic am86aHVudGVyMg"}', 'am86aHVudGVyMg'],
  ])('has its bounds: %s', (_, text, value) => {
    expect(new SecretDetector({ entropy: false }).find(text).map(finding => finding.value)).toEqual(
      value === undefined ? [] : [value],
    );
  });
});

describe('what is no secret', () => {
  it.each([
    [
      'prose',
      'The quick brown fox jumps over the lazy dog, 42 times, and its-hyphens-are-many-and-long too.',
    ],
    ['a UUID', '123e4567-e89b-12d3-a456-426614174000'],
    ['several UUIDs', '123e4567-e89b-12d3-a456-426614174000_9f86d081-884c-4d65-9a2f-eaa0c55ad015'],
    ['a UUID without dashes', '123e4567e89b42d3a456426614174000'],
    ['a Git SHA', 'commit 3b18e512dba79e4c8300dd08aeb37f8e728b8dad'],
    ['a SHA-256', '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'],
    ['a path', '/usr/local/lib/node_modules/some-package-2/dist/esm/controllers/users.controller.spec.js'],
    ['a URL', 'https://example.com:8080/a/b@2/very-long-path-of-words-and-2024-dates?page=2#top'],
    ['a user in a URL', 'ssh://git@github.com/owner/repository.git'],
    ['an identifier', 'AbstractHttp2ServerRequestFactoryProviderV2'],
    ['a slug', 'task-management-for-large-projects-2024-edition'],
    ['a word with sk-', 'sk-learn-2-tutorial-for-beginners-and-others'],
    ['a timestamp', '2024-11-05T12:30:00.000Z and 20241105123000123456789012'],
    ['the base64 of prose', base64('The quick brown fox jumps over the lazy dog')],
    ['lower case', 'akiaabcdefghijklmnopqrst ghp_abcdefghijklmnopqrstuvwxyzabcdefghijkl'],
    [
      'an address with a port and an @',
      'redis://cache:6379/0/users@2 and http://localhost:PORT/@vite/client',
    ],
    [
      'a tag or a revision and an @',
      'docker://registry:tag/name@sha256 ssh://github.com:org/repo@1.2 resource://shop:eu/items@latest',
    ],
    ['a template of an address', 'http://${host}:${port}/@fs/a and postgres://${user}:${password}/x@${host}'],
    ['a drive in an address', 'file://c:/users/jo@home/notes'],
    ['a word with Basic', 'Basic information: basic authentication, basic programming, Basic aaaaaaaaaaaa'],
    [
      'words with heads of tokens',
      'dop_v1_migration shpat_documentation hf_transfer_enabled hf_' + 'abcdefgh'.repeat(5),
    ],
    ['a public key', '-----BEGIN PUBLIC KEY-----'],
    ['Chinese', '你好，世界。这是一个很长的句子，没有任何秘密。'],
  ])('%s', (_, text) => {
    expect(detector.find(text)).toEqual([]);
  });
});

describe('the options', () => {
  it('add formats, whose group is the secret', () => {
    const own = new SecretDetector({ patterns: [{ kind: 'pin', pattern: /PIN (?<secret>\d{4})/ }] });
    expect(own.find('PIN 1234, PIN 5678')).toEqual([
      { kind: 'pin', value: '1234', start: 4, end: 8 },
      { kind: 'pin', value: '5678', start: 14, end: 18 },
    ]);
  });

  it('narrow the formats', () => {
    const own = new SecretDetector({ kinds: ['npm-token'], entropy: false });
    expect(own.find(SECRETS.jwt[0])).toEqual([]);
    expect(own.find(SECRETS['npm-token'][0])).toHaveLength(1);
  });

  it('let known values go', () => {
    const [secret] = SECRETS['aws-access-key-id'];
    expect(new SecretDetector({ ignore: [/EXAMPLE$/g] }).find(secret)).toEqual([]);
  });

  it('make Git SHAs count', () => {
    const own = new SecretDetector({ entropy: { gitShas: true } });
    expect(own.find('3b18e512dba79e4c8300dd08aeb37f8e728b8dad')).toHaveLength(1);
  });

  it('decode deeper', () => {
    const twice = base64(base64(`key: ${SECRETS.jwt[0]}`));
    const kinds = (decodeDepth: number) =>
      new SecretDetector({ decodeDepth }).find(twice).some(({ kind }) => kind === 'jwt');
    expect([kinds(1), kinds(2)]).toEqual([false, true]);
  });

  it.each([{ decodeDepth: 4 }, { decodeDepth: 0.5 }, { entropy: { minLength: 2 } }])(
    'are checked: %j',
    options => {
      expect(() => new SecretDetector(options)).toThrow(RangeError);
    },
  );
});

it.each(['aws', 'awssecret', 'secret_access', 'access'])(
  'takes linear time for many of %j in a key',
  part => {
    const key = part.repeat(400_000 / part.length);
    const started = performance.now();
    for (const place of [{ key }, { key: 'value', within: key }]) detector.find('a'.repeat(39) + 'A', place);
    expect(performance.now() - started).toBeLessThan(1000);
  },
);

// Twice the text may take twice the time: 400,000 characters of the worst for each pattern stay far below a quadratic cost.
it.each([
  'eyJ',
  'eyJabcdefgh.',
  '.eyJabcdefgh',
  '://a:',
  '://aaaa',
  '-----BEGIN PRIVATE KEY-----',
  '-----BEGIN ',
  'aws secret ',
  'aws',
  'postgres://a:/',
  'postgres://a:b/',
  'p://a:b/c/',
  'basic ',
  'basic aaaaaaaa ',
  'Basic aGk6aGk6',
  'dop_v1_',
  'dop_v1_0a',
  'shpat_0a',
  'SK0a',
  'hf_',
  'hf_aA',
  'sk-',
  'xoxb-',
  'ghp_',
  '%25',
  '\\u005c',
  '&#x0000',
  '\u200b',
  '\ufdfa',
  'a1',
])('takes linear time for many of %j', part => {
  const text = part.repeat(400_000 / part.length);
  const started = performance.now();
  detector.find(text);
  expect(performance.now() - started).toBeLessThan(5000);
});
