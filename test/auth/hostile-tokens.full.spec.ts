import { Injectable } from '@nestjs/common';
import { SignJWT, UnsecuredJWT } from 'jose';
import { McpModule, Tool } from 'nestjs-mcp';
import { jwtVerifier, McpAuthModule } from 'nestjs-mcp/auth';
import { LogSpy } from '../fixtures/log-spy.js';
import { startApp, type TestApp } from '../fixtures/matrix.js';
import { exchange } from '../fixtures/raw-http.js';
import { Issuer, RESOURCE } from './issuer.js';

@Injectable()
class Tools {
  @Tool()
  open() {
    return 'opened';
  }

  @Tool({ name: 'open', server: 'admin' })
  openAsAdmin() {
    return 'opened';
  }
}

const ADMIN = 'https://shop.example/admin/mcp';

const CHALLENGE =
  'scope="shop", resource_metadata="https://shop.example/.well-known/oauth-protected-resource/mcp"';
const INVALID = `Bearer error="invalid_token", ${CHALLENGE}`;

describe('a token that must not open anything', () => {
  const log = new LogSpy();
  let issuer: Issuer;
  let stranger: Issuer;
  let app: TestApp;
  let url: string;

  beforeAll(async () => {
    [issuer, stranger] = await Promise.all([Issuer.start(), Issuer.start()]);
    const protect = (server: string, resource: string) =>
      McpAuthModule.forRoot({
        server,
        resource,
        authorizationServers: [issuer.url],
        scopesSupported: ['shop', 'offline_access'],
        verifier: jwtVerifier(issuer.options),
      });
    app = await startApp([Tools], {
      module: {
        imports: [
          McpModule.forRoot({ name: 'admin', version: '1.0.0', http: { path: '/admin/mcp' } }),
          protect('test', RESOURCE),
          protect('admin', ADMIN),
        ],
      },
      configure: app => app.useLogger(log),
    });
    url = await app.url();
  });

  afterAll(async () => {
    await app.close();
    await Promise.all([issuer.close(), stranger.close()]);
  });

  /** Sends `authorization` headers, and maybe a query, with a call of each era. */
  const call = (authorizations: readonly string[], { path = '/mcp', era = 'modern' } = {}) => {
    const isModern = era === 'modern';
    const body = JSON.stringify({
      jsonrpc: '2.0',
      id: 7,
      method: isModern ? 'tools/call' : 'initialize',
      params: isModern
        ? {
            name: 'open',
            _meta: {
              'io.modelcontextprotocol/protocolVersion': '2026-07-28',
              'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '1' },
              'io.modelcontextprotocol/clientCapabilities': {},
            },
          }
        : { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '1' } },
    });
    return exchange(url, {
      path,
      headers: [
        ...['host', new URL(url).host, 'content-type', 'application/json'],
        ...['accept', 'application/json, text/event-stream', 'content-length', String(body.length)],
        ...(isModern
          ? ['mcp-protocol-version', '2026-07-28', 'mcp-method', 'tools/call', 'mcp-name', 'open']
          : []),
        ...authorizations.flatMap(value => ['authorization', value]),
      ],
      body,
    });
  };

  it('is none of these: a good one opens', async () => {
    const { status, body } = await call([`Bearer ${await issuer.token()}`]);
    expect([status, body]).toEqual([200, expect.stringContaining('opened')]);
  });

  const now = () => Math.floor(Date.now() / 1000);

  const TOKENS: readonly [string, () => string | Promise<string>][] = [
    ['for another audience', () => issuer.token({ aud: 'https://other.example' })],
    ['for another server of the application', () => issuer.token({ aud: ADMIN })],
    ['without an audience', () => issuer.token({ aud: undefined })],
    ['of an unknown issuer', () => issuer.token({ iss: 'https://evil.example' })],
    ['without an issuer', () => issuer.token({ iss: undefined })],
    ['signed by another key, with the kid of the right one', () => stranger.token({ iss: issuer.url })],
    [
      'without a signature (alg: none)',
      () =>
        new UnsecuredJWT({ sub: 'ada' })
          .setIssuer(issuer.url)
          .setAudience(RESOURCE)
          .setExpirationTime('5m')
          .encode(),
    ],
    [
      'signed with the public key as a secret (HS256)',
      async () =>
        new SignJWT({ sub: 'ada' })
          .setProtectedHeader({ alg: 'HS256', kid: 'one' })
          .setIssuer(issuer.url)
          .setAudience(RESOURCE)
          .setExpirationTime('5m')
          .sign(new TextEncoder().encode(await issuer.publicText())),
    ],
    ['that has expired', () => issuer.token({ exp: now() - 120 })],
    ['that is not valid yet', () => issuer.token({ nbf: now() + 120 })],
    ['with an unknown kid', () => issuer.token({}, 'two')],
    ['that never expires', () => issuer.token({ exp: undefined })],
    ['cut short', async () => (await issuer.token()).slice(0, -20)],
    ['without its signature', async () => (await issuer.token()).replace(/\.[^.]*$/, '.')],
    ['that is no JWT', () => 'a-text'],
    ['that is empty', () => ''],
    ['with characters that no token has', () => 'a"b, c="d'],
  ];

  describe.each(['modern', 'legacy'])('%s', era => {
    it.each(TOKENS)('one %s', async (_what, token) => {
      const sent = await token();
      const { status, headers, body } = await call([`Bearer ${sent}`], { era });
      expect([status, headers['www-authenticate']]).toEqual([401, INVALID]);
      // No hint as to what is wrong with it.
      expect(JSON.parse(body)).toEqual({
        jsonrpc: '2.0',
        id: 7,
        error: { code: -32000, message: 'Unauthorized: a valid access token is needed' },
      });
    });

    it('one in the query', async () => {
      const path = `/mcp?access_token=${await issuer.token()}`;
      const { status, headers } = await call([], { path, era });
      expect([status, headers['www-authenticate']]).toEqual([401, `Bearer ${CHALLENGE}`]);
    });

    it('one of two Authorization headers', async () => {
      const good = `Bearer ${await issuer.token()}`;
      const { status, headers } = await call([good, 'Bearer other'], { era });
      expect([status, headers['www-authenticate']]).toEqual([
        400,
        `Bearer error="invalid_request", ${CHALLENGE.replace(/^scope="shop", /, '')}`,
      ]);
    });

    it('one of 64 KiB', async () => {
      const { status, headers } = await call([`Bearer ${'a'.repeat(65_536)}`], { era });
      // Node itself takes 16 KiB of headers.
      expect([status, headers['www-authenticate']]).toEqual([431, undefined]);
    });

    it('one of another scheme counts as none', async () => {
      const { status, headers } = await call(['Basic YWRhOnNlY3JldA=='], { era });
      expect([status, headers['www-authenticate']]).toEqual([401, `Bearer ${CHALLENGE}`]);
    });

    it('one that the other server of the application has accepted', async () => {
      const token = await issuer.token({ aud: ADMIN });
      const admin = await call([`Bearer ${token}`], { path: '/admin/mcp', era });
      expect(admin.status).toBe(200);
      expect(await call([`Bearer ${token}`], { era })).toMatchObject({ status: 401 });
    });
  });

  it('is in no line of the log', () => {
    const lines = [...log.warnings, ...log.errors].join('\n');
    expect(lines).not.toMatch(/eyJ|a-text/);
  });
});
