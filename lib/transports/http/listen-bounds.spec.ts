import { Injectable } from '@nestjs/common';
import { ResourceTemplate } from 'nestjs-mcp';
import { platforms, startApp, type TestApp } from '../../../test/fixtures/matrix.js';

@Injectable()
class Resources {
  @ResourceTemplate({ uriTemplate: 'long://{id}' })
  long() {
    return 'long';
  }
}

const listen = (url: string, resourceSubscriptions: unknown[]) =>
  fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'subscriptions/listen',
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'subscriptions/listen',
      params: {
        notifications: { resourceSubscriptions },
        _meta: {
          'io.modelcontextprotocol/protocolVersion': '2026-07-28',
          'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '1' },
          'io.modelcontextprotocol/clientCapabilities': {},
        },
      },
    }),
  });

/** Different URIs of one length. */
const uris = (count: number, length: number) =>
  Array.from(
    { length: count },
    (_, index) => `long://${String(index).padStart(length - 'long://'.length, 'x')}`,
  );

describe.each(platforms())('subscriptions/listen on %s', platform => {
  let test: TestApp;
  afterEach(() => test.close());

  it.each([
    ['1,000 URIs', uris(1001, 12)],
    ['1,000 URIs, though all are the same', Array.from({ length: 1001 }, () => 'long://a')],
    ['1,000 URIs, though none exists', Array.from({ length: 1001 }, () => 'none://a')],
    ['65,536 characters', [...uris(8, 8192), 'long://a']],
    ['65,536 characters, though none exists', [`none://${'x'.repeat(65_530)}`]],
  ])('names no more than %s', async (_what, named) => {
    test = await startApp([Resources], { platform });
    const answer = await listen(await test.url(), named);
    expect(await answer.json()).toEqual({
      jsonrpc: '2.0',
      id: 1,
      error: { code: -32602, message: expect.stringMatching(/^At most (1000 resources|65536 characters)/) },
    });
  });

  it.each([
    ['1,000 URIs', uris(1000, 12)],
    ['65,536 characters', uris(8, 8192)],
  ])('may name %s', async (_what, named) => {
    test = await startApp([Resources], { platform });
    const stream = await listen(await test.url(), named);
    expect(stream.headers.get('content-type')).toBe('text/event-stream');
    await stream.body?.cancel();
  });
});
