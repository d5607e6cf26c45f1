import { Injectable } from '@nestjs/common';
import { Tool } from 'nestjs-mcp';
import { PLATFORMS, startApp } from '../../../test/fixtures/matrix.js';
import { exchange } from '../../../test/fixtures/raw-http.js';

@Injectable()
class Tools {
  @Tool()
  ping() {
    return 'pong';
  }
}

const message = (method: string, params?: object) =>
  JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
const initialize = message('initialize', {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'test', version: '1' },
});

// How a platform tells parameters is its own.
it.each(PLATFORMS)('a session is unknown under other parameters of the path, on %s', async platform => {
  const test = await startApp([Tools], { platform, mcp: { http: { path: '/t/:tenant/mcp' } } });
  const url = await test.url('/');
  const send = (path: string, body: string, session: Record<string, string> = {}) =>
    exchange(url, {
      path,
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...session,
      },
      body,
    });
  const opened = await send('/t/acme/mcp', initialize);
  const session = { 'mcp-session-id': opened.headers['mcp-session-id'] as string };
  const ping = message('ping');
  expect(await send('/t/acme/mcp?a=1', ping, session)).toMatchObject({ status: 200 });
  expect(await send('/t/%61cme/mcp', ping, session)).toMatchObject({ status: 200 });
  const foreign = { status: 404, body: expect.stringContaining('Session not found') };
  expect(await send('/t/other/mcp', ping, session)).toMatchObject(foreign);
  expect(await send('/t/other/mcp', initialize, session)).toMatchObject(foreign);
  await test.close();
});
