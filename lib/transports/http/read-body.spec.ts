import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { Injectable } from '@nestjs/common';
import { Tool } from 'nestjs-mcp';
import { readBody, type Body } from './read-body.js';
import { deferred } from '../../../test/fixtures/deferred.js';
import { platforms, startApp, type TestApp } from '../../../test/fixtures/matrix.js';

@Injectable()
class Tools {
  @Tool()
  ping() {
    return 'pong';
  }
}

const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);

const post = (url: string, body: string) =>
  fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body,
  });

/** Sends the head of a request and a part of its body, and waits for what comes back until the connection ends. */
async function sendSlowly(url: string, part: string, framing = 'Content-Length: 500'): Promise<string> {
  const { hostname, port, pathname } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.write(
    `POST ${pathname} HTTP/1.1\r\nHost: ${hostname}\r\nContent-Type: application/json\r\n` +
      `Accept: application/json, text/event-stream\r\n${framing}\r\n\r\n${part}`,
  );
  return text(socket);
}

describe.each(platforms())('a body on %s', platform => {
  let test: TestApp;
  afterEach(() => test.close());

  it('that does not arrive in time is answered with HTTP 408, and its connection ends', async () => {
    test = await startApp([Tools], { platform, mcp: { http: { bodyTimeoutMs: 50 } } });
    const answer = await sendSlowly(await test.url(), '{"jsonrpc":');
    const [head, body] = answer.split('\r\n\r\n');
    expect(head).toMatch(/^HTTP\/1\.1 408 /);
    expect(head).toMatch(/^connection: close$/im);
    expect(JSON.parse(/\{.*\}/.exec(body)?.[0] ?? '')).toEqual({
      jsonrpc: '2.0',
      id: null,
      error: { code: -32000, message: expect.stringMatching(/^Request Timeout: .*50/) },
    });
  });

  it.each([
    ['lists', nested(501)],
    ['objects', `${'{"a":'.repeat(501)}1${'}'.repeat(501)}`],
    ['more than there is stack for', nested(1_000_000)],
    ['what is not closed again', '['.repeat(1_000_000)],
    ['what follows a string', `["\\\\\\"]", ${nested(500)}]`],
  ])('nested deeper than 500 levels is refused (%s)', async (_what, body) => {
    test = await startApp([Tools], { platform });
    const answer = await post(await test.url(), body);
    expect(answer.status).toBe(400);
    expect(await answer.json()).toEqual({
      jsonrpc: '2.0',
      id: null,
      error: { code: -32600, message: expect.stringContaining('nested too deeply') },
    });
  });

  const fields = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, key) => [key, 0]));
  const message = { jsonrpc: '2.0', id: 1, method: 'ping' };

  it.each([
    ['params', { ...message, params: fields(1001) }],
    ['params in a batch', [message, { ...message, params: fields(1001) }]],
    ['a message', { ...message, ...fields(1001) }],
  ])('with more than 1000 fields of %s is refused', async (_what, body) => {
    test = await startApp([Tools], { platform });
    const answer = await post(await test.url(), JSON.stringify(body));
    expect(answer.status).toBe(400);
    expect(await answer.json()).toEqual({
      jsonrpc: '2.0',
      id: null,
      error: { code: -32600, message: expect.stringContaining('at most 1000 fields') },
    });
  });

  it('with 1000 fields of params is read', async () => {
    test = await startApp([Tools], { platform });
    const answer = await post(await test.url(), JSON.stringify({ ...message, params: fields(1000) }));
    expect(await answer.text()).not.toContain('fields');
  });

  it.each([
    ['levels', `{"a":${nested(498)}}`],
    ['brackets in a string', JSON.stringify({ a: `\\"${'[{'.repeat(1000)}\\` })],
    ['values side by side', `{"a":[${'[],'.repeat(1000)}{}]}`],
  ])('with as many %s as there may be is read', async (_what, rest) => {
    test = await startApp([Tools], { platform });
    const message = { jsonrpc: '2.0', id: 1, method: 'ping', params: 0 };
    const answer = await post(await test.url(), JSON.stringify(message).replace('"params":0', `"x":${rest}`));
    expect(await answer.text()).not.toContain('nested');
  });
});

describe('readBody', () => {
  let server: Server;
  afterEach(() => new Promise(resolve => server.close(resolve)));

  async function serve(answer: (read: Promise<Body>) => void, timeoutMs?: number, consumed = false) {
    server = createServer((request, response) => {
      void (async () => {
        if (consumed) await text(request);
        const body = Promise.resolve(readBody(request, 1000, timeoutMs));
        answer(body);
        await body;
        response.setHeader('connection', 'close').end();
      })();
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  }

  it.each([
    ['the deadline cuts off', '3\r\n{"a\r\n', 50, 408],
    ['is too long', `3e9\r\n${'1'.repeat(1001)}\r\n`, undefined, 413],
  ])('leaves the connection fit for the answer to a body that %s', async (_what, part, timeoutMs, status) => {
    const body = deferred<Body>();
    const url = await serve(read => void read.then(body.resolve, body.reject), timeoutMs);
    const expected = { ok: false, error: { status, code: -32000, close: true } };
    expect(await sendSlowly(url, part, 'Transfer-Encoding: chunked')).toMatch(/^HTTP\/1\.1 200 /);
    expect(await body.promise).toMatchObject(expected);
  });

  it('does not wait for a body that somebody else has read', async () => {
    const body = deferred<Body>();
    const url = await serve(read => void read.then(body.resolve, body.reject), undefined, true);
    await post(url, '{}');
    expect(await body.promise).toMatchObject({ ok: false, error: { status: 400, code: -32700 } });
  });

  it('does not wait for a client that hung up', async () => {
    const body = deferred<Body>();
    const begun = deferred();
    const url = await serve(read => {
      begun.resolve();
      read.then(body.resolve, body.reject);
    });
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    socket.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 500\r\n\r\n{"a');
    await begun.promise;
    socket.destroy();
    expect(await body.promise).toMatchObject({ ok: false, error: { status: 400, code: -32700 } });
  });
});
