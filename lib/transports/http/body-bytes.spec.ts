import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { readBody } from './read-body.js';

const MAX = 8 * 1024 * 1024;

const read = (body: Buffer | string) => {
  const bytes = Buffer.isBuffer(body) ? body : Buffer.from(body);
  const request = Object.assign(Readable.from([bytes], { objectMode: false }), { headers: {} });
  return readBody(request as unknown as IncomingMessage, MAX);
};
const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;
const text = (value: string) => JSON.stringify({ text: value });

describe('a body', () => {
  it.each([
    ['with 500 levels', nested(500)],
    ['with 1,000 lists beside each other', `[${'[],'.repeat(1000)}[]]`],
    ['with brackets in a text', text('['.repeat(1000))],
    ['with brackets after an escaped quote', text(`"${'{'.repeat(1000)}`)],
    ['with a backslash at the end of each text', JSON.stringify(Array.from({ length: 1000 }, () => ['\\']))],
    ['with letters of several bytes', text('é漢😀'.repeat(1000))],
    ['with a byte order mark', `\uFEFF${text('a')}`],
  ])('%s is read', async (_, body) => {
    expect(await read(body)).toEqual({ ok: true, json: JSON.parse(body.replace('\uFEFF', '')) });
  });

  it.each([
    ['with 501 levels', nested(501)],
    ['with 501 levels after a text that looks as if it went on', `["\\\\",${nested(500)}]`],
    ['with objects in lists', `${'[{"a":'.repeat(251)}1${'}]'.repeat(251)}`],
    ['that is deep, and not even JSON', '['.repeat(100_000)],
  ])('%s is nested too deeply', async (_, body) => {
    const { error } = (await read(body)) as { error: Error };
    expect(error.message).toContain('nested too deeply, at most 500 levels');
  });

  it.each([
    ['that is not UTF-8', Buffer.from([0x22, 0xff, 0x22])],
    ['that is not UTF-8, and deep', Buffer.concat([Buffer.from(nested(501)), Buffer.from([0xff])])],
    ['that is not JSON', Buffer.from('{')],
    ['that is empty', Buffer.alloc(0)],
  ])('%s is a parse error', async (_, body) => {
    const { error } = (await read(body)) as { error: Error };
    expect(error.message).toBe('Parse error: the request body is not valid JSON');
  });
});
