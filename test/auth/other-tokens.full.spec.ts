import { Injectable } from '@nestjs/common';
import { Tool } from 'nestjs-mcp';
import { jwtVerifier, McpAuthModule, type JwtVerifierOptions } from 'nestjs-mcp/auth';
import { startApp } from '../fixtures/matrix.js';
import { Issuer, RESOURCE } from './issuer.js';
import { ask } from './raw-caller.js';

@Injectable()
class Tools {
  @Tool()
  open() {
    return 'opened';
  }
}

/** An id of a client, as Entra writes it. */
const CLIENT = '11111111-2222-3333-4444-555555555555';

describe('another token of the issuer', () => {
  const closing: { close(): Promise<unknown> }[] = [];
  let issuer: Issuer;
  beforeAll(async () => {
    issuer = await Issuer.start();
  });
  afterEach(() => Promise.all(closing.splice(0).map(one => one.close())));
  afterAll(() => issuer.close());

  const start = async (options: Partial<JwtVerifierOptions> = {}) => {
    const app = await startApp([Tools], {
      module: {
        imports: [
          McpAuthModule.forRoot({
            resource: RESOURCE,
            authorizationServers: [issuer.url],
            verifier: jwtVerifier({ ...issuer.options, ...options }),
          }),
        ],
      },
    });
    closing.push(app);
    const url = await app.url();
    return async (token: string) =>
      (await ask({ url, era: 'modern', headers: { authorization: `Bearer ${token}` } }, 'tools/list')).status;
  };

  it.each([
    [undefined, 200],
    ['JWT', 200],
    ['at+jwt', 200],
    ['AT+JWT', 200],
    ['application/at+jwt', 200],
    ['logout+jwt', 401],
    ['dpop+jwt', 401],
    ['id_token', 401],
    ['', 401],
    [1, 401],
  ])('of the type %j: HTTP %d', async (typ, status) => {
    const call = await start();
    expect(await call(await issuer.token({}, 'one', { typ: typ as string }))).toBe(status);
  });

  it.each([
    ['at+jwt', 200],
    ['application/at+jwt', 200],
    ['JWT', 401],
    [undefined, 401],
  ])('where only access tokens are wanted, of the type %j: HTTP %d', async (typ, status) => {
    const call = await start({ typ: 'at+jwt' });
    expect(await call(await issuer.token({}, 'one', { typ }))).toBe(status);
  });

  it.each([
    ['bound to a key', { cnf: { jkt: 'a-thumbprint' } }, undefined, 401],
    ['an ID token of Keycloak', { typ: 'ID' }, undefined, 401],
    ['an ID token of Cognito', { token_use: 'id' }, undefined, 401],
    ['an access token of Keycloak', { typ: 'Bearer' }, undefined, 200],
    ['an access token with a nonce, for the resource', { nonce: 'n' }, undefined, 200],
    ['an ID token for a client', { aud: CLIENT, nonce: 'n' }, CLIENT, 401],
    ['an ID token of a code for a client', { aud: CLIENT, at_hash: 'h' }, [RESOURCE, CLIENT], 401],
    ['an access token for a client', { aud: CLIENT }, CLIENT, 200],
  ])('that is %s', async (_what, claims, audience, status) => {
    const call = await start({ audience });
    expect(await call(await issuer.token(claims))).toBe(status);
  });

  it.each([
    [`${RESOURCE.replace('https://shop.example', 'HTTPS://Shop.Example')}`, undefined, 200],
    ['https://shop.example/MCP', undefined, 401],
    ['api://SHOP', 'API://shop', 200],
    ['Shop', 'shop', 401],
  ])('for the audience %j, where %j is wanted: HTTP %d', async (aud, audience, status) => {
    const call = await start({ audience });
    expect(await call(await issuer.token({ aud }))).toBe(status);
  });
});
