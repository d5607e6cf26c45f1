import { APP_GUARD } from '@nestjs/core';
import { JwtService } from '@nestjs/jwt';
import { Test } from '@nestjs/testing';
import { McpModule } from 'nestjs-mcp';
import { checkOutput } from './support.js';

const SECRET = 'the secret of the shop';
const jwt = new JwtService({ secret: SECRET });
const ada = jwt.sign(
  { sub: 'ada', aud: 'https://shop.example.com/mcp' },
  { expiresIn: 60 },
);

/** Starts the shop, calls a tool, and reads the answer. */
async function call(name: string, token?: string) {
  // The verifiers of the page need their options when the file is loaded.
  process.env.CLIENT_SECRET = 'a secret';
  process.env.JWT_SECRET = SECRET;
  const { auth, JwtGuard, OrderTools, Public, StaffOnly } =
    await import('./authorization.js');
  const server = McpModule.forRoot({
    name: 'shop',
    version: '1.0.0',
    legacy: 'stateless',
    http: { decorators: [Public(true)] },
  });
  const testing = Test.createTestingModule({
    imports: [server, auth],
    // The guard answers neither on the route nor on handlers.
    providers: [
      OrderTools,
      StaffOnly,
      { provide: APP_GUARD, useClass: JwtGuard },
    ],
  });
  const app = (await testing.compile()).createNestApplication();
  app.useLogger(false);
  await app.listen(0, '127.0.0.1');
  const response = await fetch(`${await app.getUrl()}/mcp`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...(token && { authorization: `Bearer ${token}` }),
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name, arguments: {} },
    }),
  });
  const text = await response.text();
  await app.close();
  return {
    status: response.status,
    challenge: response.headers.get('www-authenticate'),
    text,
  };
}

it.each([
  ['openingHours', undefined, 200, 'from 9 to 5'],
  ['openingHours', 'a-text', 401, 'Unauthorized'],
  ['placeOrder', undefined, 401, 'Unauthorized'],
  ['placeOrder', ada, 403, 'lacks a scope'],
  ['clear', ada, 200, 'Unknown tool: clear'],
])('%s with the token %s: HTTP %d', async (name, token, status, said) => {
  const answer = await call(name, token);
  expect(answer.challenge !== null).toBe(status !== 200);
  expect(answer).toMatchObject({ status, text: expect.stringContaining(said) });
});

it('a caller without a token learns where to log in, and for which scope', async () => {
  const { status, challenge } = await call('placeOrder');
  checkOutput(
    'unauthorized.txt',
    `HTTP ${status}\nWWW-Authenticate: ${challenge}`,
  );
});
