import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import ts from 'typescript';
import { encodeHeader } from '../../lib/headers/header-value.js';
import { linkToHandler, routeOf } from '../../lib/explorer/page/route.js';
import { linesOf } from '../../lib/explorer/page/diff.js';
import {
  configurationOf,
  curlOf,
  headerValue,
  testOf,
  type Called,
} from '../../lib/explorer/page/snippets.js';

const PAGE = join(__dirname, '../../lib/explorer/page');
const files = readdirSync(PAGE).map(name => [name, readFileSync(join(PAGE, name), 'utf8')] as const);

const CALLED: Called = {
  server: 'shop',
  url: 'http://127.0.0.1:3000/mcp',
  method: 'tools/call',
  params: { name: 'search', arguments: { query: "it's" } },
  caller: 'token',
  revision: '2026-07-28',
  answers: [],
};

describe('the files of the page', () => {
  it.each(files.filter(([name]) => /\.(html|css)$/.test(name)))('%s names no other origin', (_name, text) => {
    expect(text).not.toMatch(/\/\/|url\(|@import/i);
  });

  it('the HTML has no script, style or listener inline', () => {
    const html = readFileSync(join(PAGE, 'index.html'), 'utf8');
    expect(html).not.toMatch(/<style|\sstyle=|\son\w+=|<script(?![^>]*\ssrc=)/i);
  });

  it.each(files.filter(([name]) => name.endsWith('.ts')))('%s takes no text for HTML', (_name, text) => {
    expect(text).not.toMatch(/innerHTML|outerHTML|insertAdjacentHTML|document\.write|srcdoc|\beval\b/);
  });
});

describe('the lines of a difference', () => {
  const texts = fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 12 });

  it('hold both texts, in order', () => {
    fc.assert(
      fc.property(texts, texts, (before, after) => {
        const lines = linesOf(before, after);
        const without = (left: string) => lines.filter(({ kind }) => kind !== left).map(({ text }) => text);
        expect(without('added')).toEqual(before);
        expect(without('removed')).toEqual(after);
      }),
    );
  });

  it('are all the same for the same text', () => {
    fc.assert(
      fc.property(texts, text => expect(linesOf(text, text).every(({ kind }) => kind === 'same')).toBe(true)),
    );
  });
});

describe('a call as a command line', () => {
  it('writes header parameters as the server reads them', () => {
    const odd = fc.constantFrom('', ' a', 'a\t', '=?base64?=', '=?base64?YQ==?=', '=?base64', 'é\n');
    fc.assert(
      fc.property(fc.oneof(odd, fc.string({ unit: 'grapheme' })), text => {
        expect(headerValue(text)).toBe(encodeHeader(text));
      }),
    );
  });

  it('quotes arguments, and keeps the token out', () => {
    const command = curlOf(CALLED);
    expect(command).toContain(String.raw`"query":"it'\''s"`);
    expect(command).toContain('-H "Authorization: Bearer $TOKEN"');
  });

  it('sends the arguments that are headers, nested ones too', () => {
    const schema = {
      properties: {
        region: { type: 'string', 'x-mcp-header': 'Region' },
        deep: { properties: { on: { type: 'boolean', 'x-mcp-header': 'On' } } },
        absent: { type: 'string', 'x-mcp-header': 'Absent' },
      },
    };
    const params = { name: 'search', arguments: { region: '', deep: { on: true } } };
    const command = curlOf({ ...CALLED, params, schema });
    expect(command).toContain("-H 'Mcp-Param-Region;'");
    expect(command).toContain("-H 'Mcp-Param-On: true'");
    expect(command).not.toContain('Absent');
  });
});

describe('a call as a test', () => {
  it.each([
    ['without an answer yet', CALLED],
    [
      'with answers',
      {
        ...CALLED,
        answers: [{ method: 'elicitation/create', message: 'Sure?', answer: { action: 'accept' } }],
      },
    ],
  ])('is TypeScript %s', (_case, called) => {
    const { diagnostics } = ts.transpileModule(testOf(called), { reportDiagnostics: true });
    expect(diagnostics).toEqual([]);
  });
});

it('a test of a 2025 call connects a 2025 client', () => {
  expect(testOf(CALLED)).not.toContain('era');
  expect(testOf({ ...CALLED, revision: '2025-11-25' })).toContain("era: 'legacy'");
});

it('a configuration of a client names the URL, and no token', () => {
  expect(JSON.parse(configurationOf(CALLED))).toEqual({
    mcpServers: {
      shop: {
        type: 'http',
        url: 'http://127.0.0.1:3000/mcp',
        headers: { Authorization: 'Bearer ${TOKEN}' },
      },
    },
  });
});

describe('a link', () => {
  it('leads back to its place', () => {
    const { view, kind, rest, query } = routeOf(
      linkToHandler('resource', 'shop://a/{b}?c', 'call', { args: '{"a":"1&2"}' }),
    );
    expect([view, kind, rest, query.get('args')]).toEqual([
      'handlers',
      'resource',
      ['shop://a/{b}?c', 'call'],
      '{"a":"1&2"}',
    ]);
  });

  it.each([
    ['', 'handlers', []],
    ['#/live', 'live', []],
    ['#/tools/%E0%A4%A', 'handlers', ['%E0%A4%A']],
  ])('%j is %s', (hash, view, rest) => {
    expect(routeOf(hash)).toMatchObject({ view, rest });
  });
});
