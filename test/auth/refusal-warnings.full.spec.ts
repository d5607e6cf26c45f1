import { Injectable } from '@nestjs/common';
import { Tool } from 'nestjs-mcp';
import { jwtVerifier, McpAuthModule, type JwtVerifierOptions } from 'nestjs-mcp/auth';
import { LogSpy } from '../fixtures/log-spy.js';
import { startApp } from '../fixtures/matrix.js';
import { trusting } from './callers.js';
import { Issuer, RESOURCE } from './issuer.js';
import { ask } from './raw-caller.js';

@Injectable()
class Tools {
  @Tool()
  open() {
    return 'opened';
  }
}

const OTHER = 'https://other.example/mcp';

describe('the log names what a token should have', () => {
  const closing: { close(): Promise<unknown> }[] = [];
  let issuer: Issuer;
  beforeAll(async () => {
    issuer = await Issuer.start();
  });
  afterEach(async () => {
    jest.restoreAllMocks();
    await Promise.all(closing.splice(0).map(one => one.close()));
  });
  afterAll(() => issuer.close());

  const start = async (
    options: Partial<JwtVerifierOptions> = {},
    verifier = jwtVerifier({ ...issuer.options, ...options }),
  ) => {
    const log = new LogSpy();
    const app = await startApp([Tools], {
      module: {
        imports: [
          McpAuthModule.forRoot({ resource: RESOURCE, authorizationServers: [issuer.url], verifier }),
        ],
      },
      configure: app => app.useLogger(log),
    });
    closing.push(app);
    const url = await app.url();
    log.warnings.splice(0);
    return {
      log,
      statusOf: async (token: string) =>
        (await ask({ url, era: 'modern', headers: { authorization: `Bearer ${token}` } }, 'tools/list'))
          .status,
    };
  };

  it('once a minute for each issuer', async () => {
    const { log, statusOf } = await start();
    const unknown = (jti: string) => issuer.token({ iss: `${issuer.url}/`, jti });
    for (const token of [await unknown('1'), await unknown('2')]) expect(await statusOf(token)).toBe(401);
    const warning = `The server "test" refused a token: its issuer is "${issuer.url}/", but must be "${issuer.url}";`;
    expect(log.warnings).toEqual([expect.stringContaining(warning)]);
    expect(await statusOf(await issuer.token({ iss: undefined }))).toBe(401);
    expect(log.warnings.slice(1)).toEqual([expect.stringContaining('its issuer is missing, but')]);
    jest.spyOn(performance, 'now').mockReturnValue(performance.now() + 60_001);
    expect(await statusOf(await unknown('3'))).toBe(401);
    expect(log.warnings.slice(2)).toEqual([expect.stringContaining(warning)]);
  });

  it.each([
    ['the resource', {}, `"${RESOURCE}"`],
    ['the option of the verifier', { audience: ['shop', 'desk'] }, '"shop" or "desk"'],
  ])('once a minute for each audience, with %s', async (_what, options, expected) => {
    const { log, statusOf } = await start(options);
    for (const jti of ['1', '2']) expect(await statusOf(await issuer.token({ aud: OTHER, jti }))).toBe(401);
    expect(log.warnings).toEqual([
      expect.stringContaining(
        `The server "test" refused a token: its audience is "${OTHER}", but must be ${expected};`,
      ),
    ]);
  });

  it('for the resource that a verifier found', async () => {
    const { log, statusOf } = await start(
      {},
      {
        verifyAccessToken: async token => ({
          ...(await trusting.verifyAccessToken(Buffer.from('ada').toString('base64url'), {} as never)),
          token,
          resource: new URL(OTHER),
        }),
      },
    );
    expect(await statusOf('a-token')).toBe(401);
    expect(log.warnings).toEqual([
      expect.stringContaining(`its resource is "${OTHER}", but must be "${RESOURCE}";`),
    ]);
  });

  it('and, for debugging only, that the header holds no token, without its text', async () => {
    const { log, statusOf } = await start();
    const lines: unknown[] = [];
    Object.assign(log, { debug: (line: unknown) => lines.push(line) });
    expect(await statusOf('orders:write')).toBe(401);
    expect(lines).toEqual([
      'The server "test" refused a token: the Authorization header is malformed or too long',
    ]);
    expect(log.warnings).toEqual([]);
  });

  it('but not whatever callers make up', async () => {
    const { log, statusOf } = await start();
    for (let index = 0; index < 30; index++) {
      expect(await statusOf(await issuer.token({ iss: `${'x'.repeat(1000)}\n${index}` }))).toBe(401);
    }
    for (let index = 0; index < 30; index++) {
      expect(await statusOf(await issuer.token({ iss: `https://made-up.example/${index}` }))).toBe(401);
    }
    expect(log.warnings).toHaveLength(10);
    expect(Math.max(...log.warnings.map(({ length }) => length))).toBeLessThan(600);
    // A line and its context.
    expect(log.warnings.map(text => text.split('\n').length)).toEqual(Array(10).fill(2));
    // The issuer has signed an audience, so that it does not count with the issuers that callers make up.
    expect(await statusOf(await issuer.token({ aud: OTHER }))).toBe(401);
    expect(log.warnings).toHaveLength(11);
  });
});
