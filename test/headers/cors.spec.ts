import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { Controller, Get, type INestApplication } from '@nestjs/common';
import type { McpModuleOptions } from 'nestjs-mcp';
import { platforms, startApp, type TestApp } from '../fixtures/matrix.js';
import { call, Mirror, STANDARD } from './support.js';

@Controller('rest')
class Rest {
  @Get()
  get() {
    return 'rest';
  }
}

const ORIGIN = 'https://app.example';
const mcp: Partial<McpModuleOptions> = { http: { allowedOrigins: ['app.example'] } };

async function exchange(
  url: string,
  method: string,
  headers: Record<string, string>,
  body?: object,
): Promise<IncomingMessage> {
  const sending = request(url, { method, agent: false, headers: { origin: ORIGIN, ...headers } });
  sending.end(body && JSON.stringify({ jsonrpc: '2.0', id: 1, ...body }));
  const [response] = (await once(sending, 'response')) as [IncomingMessage];
  response.resume();
  return response;
}
const namesIn = (response: IncomingMessage, header: string) =>
  (response.headers[header] as string | undefined)?.split(',').map(name => name.trim().toLowerCase()) ?? [];

const SENT = [
  'content-type',
  'mcp-protocol-version',
  'mcp-method',
  'mcp-name',
  'mcp-param-text',
  'mcp-session-id',
];

describe.each(platforms())('CORS on %s', platform => {
  let app: TestApp;
  const start = async (configure?: (app: INestApplication) => void) => {
    app = await startApp([Mirror], { platform, mcp, module: { controllers: [Rest] }, configure });
    return app.url();
  };
  const preflight = (url: string, headers = SENT) =>
    exchange(url, 'OPTIONS', {
      'access-control-request-method': 'POST',
      'access-control-request-headers': headers.join(','),
    });
  const post = (url: string, headers: Record<string, string> = {}) =>
    exchange(
      url,
      'POST',
      {
        ...STANDARD,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...headers,
      },
      call({ text: 'a' }),
    );
  afterEach(() => app.close());

  it.each<[string, Parameters<INestApplication['enableCors']>[0]]>([
    ['as it is', undefined],
    [
      'with lists of its own',
      { origin: ORIGIN, allowedHeaders: ['X-Own'], exposedHeaders: ['X-Out'], credentials: true },
    ],
  ])('allows and exposes the headers of the protocol, enabled %s', async (_, options) => {
    const url = await start(one => one.enableCors(options as never));
    const asked = await preflight(url, [...SENT, 'x-own']);
    expect(asked.statusCode).toBe(204);
    expect(namesIn(asked, 'access-control-allow-headers')).toEqual(
      expect.arrayContaining([...SENT, 'x-own']),
    );
    const answered = await post(url, { 'Mcp-Param-Text': 'a' });
    expect(answered.statusCode).toBe(200);
    const exposed = [
      'mcp-session-id',
      'mcp-protocol-version',
      'www-authenticate',
      ...(options ? ['x-out'] : []),
    ];
    expect(namesIn(answered, 'access-control-expose-headers').sort()).toEqual(exposed.sort());
  });

  it('exposes them with a refusal, too', async () => {
    const refused = await post(await start(one => one.enableCors()));
    expect(refused.statusCode).toBe(400);
    expect(namesIn(refused, 'access-control-expose-headers')).toContain('mcp-session-id');
  });

  it('allows no other headers than the application does, and exposes none', async () => {
    const url = await start(one => one.enableCors({ origin: ORIGIN, allowedHeaders: ['X-Own'] }));
    const asked = await preflight(url, ['x-other', 'authorization', 'xmcp-name', 'mcp-name']);
    expect(namesIn(asked, 'access-control-allow-headers')).toEqual(['x-own', 'mcp-name']);
  });

  it('adds nothing for an origin that the application does not allow', async () => {
    const url = await start(one =>
      one.enableCors({ origin: ['https://other.example'], allowedHeaders: ['X-Own'] }),
    );
    const asked = await preflight(url);
    expect(namesIn(asked, 'access-control-allow-headers')).toEqual(['x-own']);
  });

  it('leaves other routes alone', async () => {
    const url = await start(one => one.enableCors({ origin: ORIGIN, allowedHeaders: ['X-Own'] }));
    const rest = new URL('/rest', url).href;
    expect(namesIn(await preflight(rest), 'access-control-allow-headers')).toEqual(['x-own']);
    const got = await exchange(rest, 'GET', {});
    expect(got.headers).not.toHaveProperty('access-control-expose-headers');
  });

  it('does nothing where it is not enabled', async () => {
    const url = await start();
    expect((await preflight(url)).statusCode).toBe(405);
    const answered = await post(url, { 'Mcp-Param-Text': 'a' });
    expect(Object.keys(answered.headers).filter(name => name.startsWith('access-control'))).toEqual([]);
  });
});
