import { Injectable } from '@nestjs/common';
import { Tool } from 'nestjs-mcp';
import { platforms, startApp, type TestApp } from '../../../test/fixtures/matrix.js';

@Injectable()
class Tools {
  @Tool()
  ping() {
    return 'pong';
  }
}

const initialize = {
  jsonrpc: '2.0',
  id: 0,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '1' } },
};

describe.each(platforms())('the event stream of a session on %s', platform => {
  let test: TestApp;
  afterEach(() => test.close());

  it('is open for the client before its first event', async () => {
    test = await startApp([Tools], { platform, mcp: { http: { keepAliveMs: 0 } } });
    const url = await test.url();
    const opened = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      body: JSON.stringify(initialize),
    });
    await opened.text();
    const headers = {
      accept: 'text/event-stream',
      'mcp-session-id': String(opened.headers.get('mcp-session-id')),
    };
    const stream = await fetch(url, { headers });
    expect(stream.status).toBe(200);
    expect(stream.headers.get('content-type')).toBe('text/event-stream');
    await stream.body?.cancel();
  });
});
