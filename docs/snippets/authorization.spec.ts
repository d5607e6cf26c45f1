import { JwtService } from '@nestjs/jwt';
import { Test } from '@nestjs/testing';
import { McpModule } from 'nestjs-mcp';
import { McpAuthModule } from 'nestjs-mcp/auth';

const RESOURCE = 'https://shop.example.com/mcp';
const jwt = new JwtService({ secret: 'the secret of the shop' });
const ada = jwt.sign({ sub: 'ada', aud: RESOURCE }, { expiresIn: 60 });

it.each([
  ['openingHours', undefined, 200, 'from 9 to 5'],
  ['openingHours', 'a-text', 401, 'Unauthorized'],
  ['placeOrder', undefined, 401, 'Unauthorized'],
  ['placeOrder', ada, 403, 'lacks a scope'],
  ['clear', ada, 200, 'Unknown tool: clear'],
])('%s with the token %s: HTTP %d', async (name, token, status, said) => {
  // The verifiers of the page need their options when the file is loaded.
  process.env.CLIENT_SECRET = 'a secret';
  const { OrderTools, ShopTokens, StaffOnly } =
    await import('./authorization.js');
  const imports = [
    McpModule.forRoot({ name: 'shop', version: '1.0.0', legacy: 'stateless' }),
    McpAuthModule.forRoot({
      resource: RESOURCE,
      authorizationServers: ['https://login.example.com'],
      verifier: new ShopTokens(jwt),
    }),
  ];
  const testing = Test.createTestingModule({
    imports,
    providers: [OrderTools, StaffOnly],
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
  expect([response.status, await response.text()]).toEqual([
    status,
    expect.stringContaining(said),
  ]);
  await app.close();
});
