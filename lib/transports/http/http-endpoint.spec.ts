import { Injectable } from '@nestjs/common';
import { Tool, type McpModuleOptions } from 'nestjs-mcp';
import { LogSpy } from '../../../test/fixtures/log-spy.js';
import { startApp, type TestApp } from '../../../test/fixtures/matrix.js';
import { exchange } from '../../../test/fixtures/raw-http.js';

@Injectable()
class Tools {
  @Tool()
  ping() {
    return 'pong';
  }
}

const json = ['content-type', 'application/json', 'accept', 'application/json, text/event-stream'];
const initialize = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
});

describe('Host and Origin', () => {
  let test: TestApp;
  let log: LogSpy;
  afterEach(() => test.close());

  const start = async (http?: McpModuleOptions['http']) => {
    log = new LogSpy();
    test = await startApp([Tools], { mcp: { http }, configure: app => app.useLogger(log) });
    const url = await test.url();
    return async (headers: readonly string[]) =>
      (await exchange(url, { path: '/mcp', headers: [...json, ...headers], body: initialize })).status;
  };
  const refusals = () => log.warnings.filter(message => /allowedHosts|allowedOrigins/.test(message));

  it('allowedHosts: "*" opens no origin but those of this machine', async () => {
    const send = await start({ allowedHosts: '*' });
    expect(await send(['host', 'any.example'])).toBe(200);
    expect(await send(['host', 'any.example', 'origin', 'http://localhost:5173'])).toBe(200);
    expect(await send(['host', 'any.example', 'origin', 'https://any.example'])).toBe(403);
  });

  it.each([['localhost'], '*' as const])(
    'a Host with characters that no host has is malformed, for %s',
    async allowedHosts => {
      const send = await start({ allowedHosts });
      for (const host of [
        'local"host',
        'local,host',
        "local'host",
        'local%22host',
        'a@localhost',
        'löcal',
        '',
      ]) {
        expect(await send(['host', Buffer.from(host).toString('latin1')])).toBe(400);
      }
      expect(await send(['host', 'localhost:80'])).toBe(200);
    },
  );

  it('two Host headers are refused, of which Node keeps the first', async () => {
    const send = await start();
    expect(await send(['host', 'localhost', 'Host', 'localhost'])).toBe(400);
    expect(await send(['host', 'localhost', 'host', 'evil.example'])).toBe(400);
  });

  it('a refusal is logged once for each name, with the option that would let it in', async () => {
    const send = await start();
    for (let time = 0; time < 2; time += 1) {
      expect(await send(['host', 'mcp.example:8080'])).toBe(403);
      expect(await send(['host', 'localhost', 'origin', 'https://app.example'])).toBe(403);
    }
    expect(refusals()).toEqual([
      expect.stringMatching(/Host.*"mcp\.example".*"http\.allowedHosts"/),
      expect.stringMatching(/Origin.*"app\.example".*"http\.allowedOrigins"/),
    ]);
  });

  it('callers who make up names fill neither the memory nor the log', async () => {
    const send = await start();
    for (let index = 0; index < 150; index += 1) await send(['host', `h${index}.example`]);
    expect(refusals()).toHaveLength(100);
    await send(['host', 'localhost', 'origin', `https://${'o'.repeat(10_000)}.example`]);
    expect(refusals()).toHaveLength(101);
    expect(refusals()[100].length).toBeLessThan(1000);
  });
});
