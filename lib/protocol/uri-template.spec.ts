import * as fc from 'fast-check';
import { checkUri } from './check-uri.js';
import { compileUriTemplate, UriTemplateError } from './uri-template.js';

const match = (template: string, uri: string) => compileUriTemplate(template).match(uri);

describe('a compiled URI template', () => {
  it.each<[template: string, uri: string, values: Record<string, string | string[]>]>([
    // simple
    ['x://h/{a}', 'x://h/1', { a: '1' }],
    ['x:{a}', 'x:1', { a: '1' }],
    ['x://h/{user.id_2}/p', 'x://h/7/p', { 'user.id_2': '7' }],
    ['x://{host}/{a}-{b}', 'x://db.example/1-2', { host: 'db.example', a: '1', b: '2' }],
    ['x://h/{a,b}', 'x://h/1,2', { a: '1', b: '2' }],
    ['x://h/{a}', 'x://h/1,2', { a: '1,2' }],
    ['x://h/{a}', 'x://h/me@home;v=1&:$', { a: 'me@home;v=1&:$' }],
    ['x://h/{list*}', 'x://h/red,green,blue', { list: ['red', 'green', 'blue'] }],
    ['x://h/{list*}', 'x://h/red', { list: ['red'] }],
    ['x://h/{a,rest*}', 'x://h/1,2,3', { a: '1', rest: ['2', '3'] }],
    // reserved and fragment
    ['x://h/{+path}', 'x://h/a/b/c.txt', { path: 'a/b/c.txt' }],
    ['x://{+path}', 'x:///etc/hosts', { path: '/etc/hosts' }],
    ['x://h/{+path}/raw', 'x://h/a/raw/raw', { path: 'a/raw' }],
    ['x://h/{+dir}/{file}', 'x://h/a/b/c', { dir: 'a/b', file: 'c' }],
    ['x://h/{+a,b}', 'x://h/1/2,3/4', { a: '1/2', b: '3/4' }],
    ['web:{+url}', 'web:https://h/a?b=c#d', { url: 'https://h/a?b=c#d' }],
    ['web:{+url}{?depth}', 'web:https://h/a?depth=2', { url: 'https://h/a', depth: '2' }],
    ['x://h/{a}{#part}', 'x://h/1#sec/2?', { a: '1', part: 'sec/2?' }],
    ['x://h{?q}{#part}', 'x://h?q=1#2', { q: '1', part: '2' }],
    // labels and segments
    ['x://h/{name}{.ext}', 'x://h/a.tar.gz', { name: 'a.tar', ext: 'gz' }],
    ['x://h/f{.a,b}', 'x://h/f.1.2', { a: '1', b: '2' }],
    ['x://h/f{.all*}', 'x://h/f.1.2', { all: ['1', '2'] }],
    ['x://h{/a,b}', 'x://h/1/2', { a: '1', b: '2' }],
    ['x://h{/path*}', 'x://h/1/2/3', { path: ['1', '2', '3'] }],
    ['x://h{/owner,path*}/raw', 'x://h/me/1/2/raw', { owner: 'me', path: ['1', '2'] }],
    // parameters
    ['x://h/p{;a,b}', 'x://h/p;b=2;a=1', { a: '1', b: '2' }],
    ['x://h/p{;a}', 'x://h/p;a', { a: '' }],
    ['x://h/{p}{;a}{;b}/q', 'x://h/p;b=2/q', { p: 'p', b: '2' }],
    ['x://h/p{;a*}', 'x://h/p;a=1;a=2', { a: ['1', '2'] }],
    // query
    ['x://h/s{?a,b}', 'x://h/s?a=1&b=2', { a: '1', b: '2' }],
    ['x://h/s{?a,b}', 'x://h/s?b=2&a=1', { a: '1', b: '2' }],
    ['x://h/s{?a,b}', 'x://h/s?b=2', { b: '2' }],
    ['x://h/s{?a,b}', 'x://h/s', {}],
    ['x://h/s{?a}', 'x://h/s?a=', { a: '' }],
    ['x://h/s{?a}', 'x://h/s?a', { a: '' }],
    ['x://h/s{?a}', 'x://h/s?a=b=c+d', { a: 'b=c+d' }],
    ['x://h/s{?a}', 'x://h/s?%61=TCP%2FIP', { a: 'TCP/IP' }],
    ['x://h/s{?a*}', 'x://h/s?a=1&a=2', { a: ['1', '2'] }],
    ['x://h/s{?a*}', 'x://h/s?a=1', { a: ['1'] }],
    ['x://h/s{?a}{&b}', 'x://h/s?b=2', { b: '2' }],
    ['x://h/s?v=1{&a,b}', 'x://h/s?v=1&b=2&a=1', { a: '1', b: '2' }],
    ['x://h/s?q={q}&v={v}', 'x://h/s?q=1&v=2', { q: '1', v: '2' }],
    // percent-encoding
    ['x://h/{a}', 'x://h/My%20File', { a: 'My File' }],
    ['x://h/{a}', 'x://h/%C3%BC', { a: 'ü' }],
    ['x://h/{a}', 'x://h/ü', { a: 'ü' }],
    ['x://h/{a}', 'x://h/\u{e02f}', { a: '\u{e02f}' }],
    ['x://h/{a}', 'x://h/100%25', { a: '100%' }],
    ['x://h/{a}', 'x://h/%252e%252e', { a: '%2e%2e' }],
    ['x://h/{+a}', 'x://h/a/%252e%252e/b', { a: 'a/%2e%2e/b' }],
    ['x://h/{a}', 'x://h/%3Fa%23', { a: '?a#' }],
    ['x://h/{a,b}', 'x://h/1%2C2,3', { a: '1,2', b: '3' }],
    ['x://h/{a*}', 'x://h/1%2C2,3', { a: ['1,2', '3'] }],
    ['x://h/{?a}', 'x://h/?a=1%262', { a: '1&2' }],
    ['x://h/{a}F{b}', 'x://h/1F%3Fz', { a: '1', b: '?z' }],
    ['x://h/café/{a}', 'x://h/caf%c3%a9/1', { a: '1' }],
    ['x://h/caf%C3%A9/{a}', 'x://h/café/1', { a: '1' }],
    ['x://h/~%7Ea/{a}', 'x://h/%7e~%61/1', { a: '1' }],
    ['Docs://h/{a}', 'DOCS://h/1', { a: '1' }],
    ['x:{a}/{b}Port:{c}', 'x:1/2Port:3', { a: '1', b: '2', c: '3' }],
    // names that objects know
    ['x://h/{__proto__}', 'x://h/1', { ['__proto__']: '1' }],
    ['x://h{?constructor}', 'x://h?constructor=1', { constructor: '1' }],
    // no variables
    ['x://h/a', 'x://h/a', {}],
  ])('%s reads %s', (template, uri, values) => {
    expect(match(template, uri)).toEqual(values);
  });

  it.each<[template: string, uri: string]>([
    // literal text, to the letter
    ['x://h/{a}', 'y://h/1'],
    ['x://h/{a}', 'x://H/1'],
    ['x://h/{a}', 'xx://h/1'],
    ['x://h/a.c/{a}', 'x://h/abc/1'],
    ['x://h/{a}/end', 'x://h/1/end/'],
    ['x://h/a%2Fb/{a}', 'x://h/a/b/1'],
    // nothing where something has to be, something where nothing may
    ['x://h/{a}', 'x://h/'],
    ['x://h{/a}', 'x://h'],
    ['x://h/{+a}', 'x://h/'],
    ['x://h/{a,b}', 'x://h/1'],
    ['x://h/{a,b}', 'x://h/1,2,3'],
    ['x://h/{a*}', 'x://h/1,,2'],
    ['x://h{/a*}', 'x://h/1//2'],
    ['x://h{/a*}', 'x://h/1/'],
    ['x://h/{a}', 'x://h/1?q=2'],
    ['x://h/{a}', 'x://h/1#2'],
    ['x://h/{a}', 'x://h/1/2'],
    ['x://h{/a}', 'x://h/1#2'],
    ['x://h{?a}', 'x://h?a=1#2'],
    ['x://h{#a}', 'x://h#1#2'],
    ['x:{+a}{#b}', 'x:1#2#3'],
    // named variables
    ['x://h/s{?a}', 'x://h/s?'],
    ['x://h/s{?a}', 'x://h/s?c=1'],
    ['x://h/s{?a}', 'x://h/s?a=1&c=1'],
    ['x://h/s{?a}', 'x://h/s?a=1&a=2'],
    ['x://h/s{?a}', 'x://h/s?a=1&'],
    ['x://h/s{?a}', 'x://h/s&a=1'],
    ['x://h/s{?a}', 'x://h/s?toString=1'],
    ['x://h/s?v=1{&a}', 'x://h/s?a=1&v=1'],
    ['x://h/s?q={q}', 'x://h/s?q=1&admin=1'],
    ['x://h/{+a}{?b}', 'x://h/1?c=1'],
    // malformed
    ['x://h/{a}', 'x://h/%'],
    ['x://h/{a}', 'x://h/%4'],
    ['x://h/{a}', 'x://h/%zz'],
    ['x://h/{a}', 'x://h/%C3'],
    ['x://h/{a}', 'x://h/%C0%AF'],
    ['x://h/{a}', 'x://h/%ED%A0%80'],
    ['x://h/{a}', 'x://h/\ud800'],
    ['x://h/{a}', 'x://h/a b'],
    ['x://h/{a}', 'x://h/a\nb'],
    ['x://h/{a}', 'x://h/a\0'],
    ['x://h/{a}', 'x://h/{a}'],
  ])('%s does not match %j', (template, uri) => {
    expect(match(template, uri)).toBeUndefined();
  });

  const segments = [
    ['{a}', ''],
    ['p{.a}', 'p.'],
    ['{/a}', '/'],
    ['{a*}', ''],
    ['{/a*}', '/b/'],
    ['p{;a}', 'p;a='],
  ];
  const paths = [
    ['{+a}', ''],
    ['{+a*}', 'b,'],
    ['{#a}', '#'],
    ['{?a}', '?a='],
    ['{?a*}', '?a=b&a='],
    ['?b=1{&a}', '?b=1&a='],
  ];

  it.each([...segments, ...paths])('has no value climb out of %s', (expression, before) => {
    const template = compileUriTemplate(`x://h/${expression}`);
    const read = (value: string) => template.match(`x://h/${before}${value}`);
    expect(['ok', '...', '%2e%2e%2e', '.a', 'a..'].filter(value => !read(value))).toEqual([]);
    const climbing = [
      '.',
      '..',
      '%2e',
      '%2E%2e',
      '.%2e',
      '../a',
      'a/..',
      'a/./b',
      'a%2F..',
      '%2e%2e%2fetc',
      'a/..%3Fb',
    ];
    const unprintable = ['%5C', 'a%5cb', '%00', 'a%00', '%0A', '%7F', '%C2%85'];
    expect([...climbing, ...unprintable].filter(read)).toEqual([]);
  });

  it.each(segments)('keeps an encoded slash out of %s', (expression, before) => {
    expect(match(`x://h/${expression}`, `x://h/${before}a%2Fb`)).toBeUndefined();
    expect(match(`x://h/${expression}`, `x://h/${before}a%2fb`)).toBeUndefined();
  });

  it.each(paths)('lets an encoded slash into %s', (expression, before) => {
    expect([match(`x://h/${expression}`, `x://h/${before}a%2Fb`)?.a].flat().at(-1)).toBe('a/b');
  });

  it('says which variables it has, in their order', () => {
    expect(compileUriTemplate('x://{h}/{+p}{/q*}{?r,s*}{&t}{#u}').variables).toEqual([
      'h',
      'p',
      'q',
      'r',
      's',
      't',
      'u',
    ]);
  });

  it('is the more specific, the more literal text it has, then the less a variable may take', () => {
    const templates = ['x://{a}', 'x://h/{+a}', 'x://h/{a}', 'x://h/{a}/b', 'x://h/{a}/%62c'];
    const specificity = (template: string) => compileUriTemplate(template).specificity;
    const sorted = [...templates].reverse().sort((a, b) => specificity(a) - specificity(b));
    expect(sorted).toEqual(templates);
    expect(specificity('x://h{/a}')).toBe(specificity('x://h/{a}'));
    expect(specificity('x://h/{a}{?b}')).toBe(specificity('x://h/{a}'));
    expect(specificity('x://h{/a*}')).toBe(specificity('x://h/{+a}'));
  });

  it('matches URIs of up to 8,192 characters', () => {
    expect(match('x:{a}', `x:${'a'.repeat(8190)}`)).toBeDefined();
    expect(match('x:{a}', `x:${'a'.repeat(8191)}`)).toBeUndefined();
  });

  it('finishes on texts that have a regular expression try every division', () => {
    const text = `x://${'-'.repeat(8000)}`;
    expect(match('x://{a}-{b}-{c}-{d}-{e}-{f}/z', text)).toBeUndefined();
    expect(match('x://{+a}-{+b*}-{+c}-{+d}-{+e}-{+f}/z', text)).toBeUndefined();
    expect(match('x://{a*}/z', `x://${'a,'.repeat(4000)}`)).toBeUndefined();
    expect(match('x://h{?a*}', `x://h?${'a=1&'.repeat(2000)}`)).toBeUndefined();
    expect(match('x://{a}-{b}-{c}', text)).toEqual({ a: '-'.repeat(7996), b: '-', c: '-' });
  });

  const allowed = (value: string) => !/[\p{Cc}\\]/u.test(value) && !/(^|\/)\.\.?($|[/?#])/.test(value);
  const wide = fc.string({ unit: 'binary', minLength: 1, maxLength: 40 }).filter(allowed);
  const narrow = wide.filter(value => !value.includes('/'));

  it('gives back every allowed value that was expanded into it', () => {
    const template = compileUriTemplate('x://{a}/p{.b}/{c,d}{/e*}{;f}/{+g}{?h,i*}{#j}');
    const list = (value: fc.Arbitrary<string>) => fc.array(value, { minLength: 1, maxLength: 3 });
    const values = fc.record({
      ...{ a: narrow, b: narrow, c: narrow, d: narrow, e: list(narrow), f: narrow },
      ...{ g: wide, h: wide, i: list(wide), j: wide },
    });
    const enc = encodeURIComponent;
    fc.assert(
      fc.property(values, input => {
        const { a, b, c, d, e, f, g, h, i, j } = input;
        const path = [enc(a), `p.${enc(b)}`, `${enc(c)},${enc(d)}`, ...e.map(enc)].join('/');
        const query = [...i.map(value => `i=${enc(value)}`), `h=${enc(h)}`].join('&');
        const uri = `x://${path};f=${enc(f)}/${enc(g)}?${query}#${enc(j)}`;
        expect(template.match(uri)).toEqual(input);
      }),
    );
  });

  it('returns nothing that is forbidden, whatever the URI', () => {
    const pieces = [
      '.',
      '/',
      '%2e',
      '%2E',
      '%2f',
      '%5c',
      '\\',
      '%00',
      '%',
      '25',
      '%25',
      '?',
      '#',
      '&',
      '=',
      ';',
      ',',
      'a',
      'b',
      '%C3',
      '%BC',
      'ü',
      '%0a',
    ];
    const uri = fc.array(fc.constantFrom(...pieces), { maxLength: 12 }).map(parts => `x:${parts.join('')}`);
    const narrowTemplates = ['x:{a}', 'x:{a}/{b}', 'x:{a*}', 'x:{a}{/b*}', 'x:{a}{.b}', 'x:{a}{;b*}'].map(
      compileUriTemplate,
    );
    const wideTemplates = ['x:{+a}', 'x:{+a}/{+b}', 'x:{+a}{?b}', 'x:{+a}{#b}', 'x:{+a*}', 'x:a{?a*,b}'].map(
      compileUriTemplate,
    );
    fc.assert(
      fc.property(uri, uri => {
        for (const template of [...narrowTemplates, ...wideTemplates]) {
          for (const value of Object.values(template.match(uri) ?? {}).flat()) {
            expect(allowed(value)).toBe(true);
            if (narrowTemplates.includes(template)) expect(value).not.toContain('/');
          }
        }
      }),
      { numRuns: 2000 },
    );
  });

  it('never throws', () => {
    const template = compileUriTemplate('x:{a}/{+b}{?c,d*}{#e}');
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: 'binary' }),
          fc.webUrl(),
          fc.string().map(s => `x:${s}`),
        ),
        uri => {
          template.match(uri);
          checkUri(uri);
        },
      ),
    );
  });
});

describe('compiling a URI template', () => {
  it.each([
    ['/h/{a}', 'does not begin with a literal scheme: put one there, such as "docs://"'],
    ['{scheme}://h', 'does not begin with a literal scheme: put one there, such as "docs://"'],
    ['x://h/{a', 'has a stray "{": take it out or percent-encode it'],
    ['x://h/a}', 'has a stray "}": take it out or percent-encode it'],
    ['x://h/{a{b}}', 'has a stray "{": take it out or percent-encode it'],
    ['x://h/a b/{a}', 'has a stray " ": take it out or percent-encode it'],
    ['x://h/%{a}', 'has a stray "%": take it out or percent-encode it'],
    [
      'x://h/{}',
      'has {}: write {name}, of letters, digits, "_" and ".", with at most one of +#./;?& before it',
    ],
    ['x://h/{user-id}', 'has {user-id}: write {name}, of letters'],
    ['x://h/{a.}', 'has {a.}: write {name}'],
    ['x://h/{a,}', 'has {a,}: write {name}'],
    ['x://h/{|a}', 'has {|a}: write {name}'],
    ['x://h/{+?a}', 'has {+?a}: write {name}'],
    ['x://h/{a:3}', 'keeps only the beginning of a value in {a:3}: leave out the length'],
    ['x://h/{a}/{a}', 'has two variables named "a": rename one'],
    ['x://h/{?a,a}', 'has two variables named "a": rename one'],
    ['x://h/{a}{b}', 'has two variables with nothing between them: put literal text there'],
    ['x://h/{+a}{+b}', 'has two variables with nothing between them: put literal text there'],
    ['x://h/p{;a}{b}', 'has two variables with nothing between them: put literal text there'],
    ['x://h{&a}', 'has {&a} without a query before it: write {?a}'],
    ['x://h{?a}/b', 'goes on after its query: let only {&more} and a fragment follow {?...} or {&...}'],
    ['x://h{?a}{b}', 'goes on after its query'],
    ['x://h{?a}{?b}', 'goes on after its query'],
  ])('refuses %s', (template, problem) => {
    expect(() => compileUriTemplate(template)).toThrow(UriTemplateError);
    expect(() => compileUriTemplate(template)).toThrow(`The URI template "${template}" ${problem}`);
  });

  it('accepts every operator of levels 1 to 3', () => {
    expect(() => compileUriTemplate('x://{a}/{+b}{/c,d*}{.e}{;f,g}{?h,i*}{&j}{#k}')).not.toThrow();
  });
});

describe('checkUri', () => {
  it.each([
    'x:',
    'docs://a',
    'urn:isbn:0451450523',
    'file:///C:/a%20b',
    'a+b-c.1://h?q=1#f',
    'docs://café',
    "x:a'(b)!*",
  ])('takes %s', uri => {
    expect(checkUri(uri)).toBeUndefined();
  });

  it.each([
    ['', 'it does not start with a scheme, such as "docs:"'],
    ['/a/b', 'it does not start with a scheme, such as "docs:"'],
    ['1x://a', 'it does not start with a scheme, such as "docs:"'],
    ['a b://c', 'it does not start with a scheme, such as "docs:"'],
    [' x://a', 'it does not start with a scheme, such as "docs:"'],
    ['x://a b', 'it holds " ", which has to be percent-encoded'],
    ['x://a\n', 'it holds "\\n", which has to be percent-encoded'],
    ['x://a\0', 'it holds "\\u0000", which has to be percent-encoded'],
    ['x://a\\b', 'it holds "\\\\", which has to be percent-encoded'],
    ['x://{a}', 'it holds "{", which has to be percent-encoded'],
    ['x://\ud800', 'it holds "\\ud800", which has to be percent-encoded'],
    ['x://100%', 'it holds a "%" without two hexadecimal digits after it'],
    [`x://${'a'.repeat(8192)}`, 'it is longer than 8192 characters'],
  ])('says what is wrong with %j', (uri, reason) => {
    expect(checkUri(uri)).toBe(reason);
  });
});
