import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Injectable } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { McpModule, Tool } from 'nestjs-mcp';
import { jwtVerifier, McpAuthModule, RequireScopes } from 'nestjs-mcp/auth';
import { createTestClient, textOf } from 'nestjs-mcp/testing';

const RESOURCE = 'http://localhost:3000/mcp';

@Injectable()
class OrderTools {
  @RequireScopes('orders:read')
  @Tool({ description: 'Lists the orders' })
  listOrders() {
    return '1 umbrella';
  }

  @RequireScopes('orders:write')
  @Tool({ description: 'Places an order' })
  placeOrder() {
    return 'Ordered';
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, 'localhost');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

let logins: ChildProcess;
afterAll(() => void logins.kill());

it('gives tokens that the server takes', async () => {
  const port = await freePort();
  const issuer = `http://localhost:${port}`;
  logins = spawn(process.execPath, [join(__dirname, 'login-server.mjs')], {
    env: { ...process.env, PORT: String(port) },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(logins.stdout!, 'data');
  const answer = await fetch(`${issuer}/token`, {
    method: 'POST',
    headers: {
      authorization: `Basic ${Buffer.from('me:not-for-production').toString('base64')}`,
    },
    body: new URLSearchParams({
      grant_type: 'client_credentials',
      scope: 'orders:read',
      resource: RESOURCE,
    }),
  });
  const { access_token: token } = (await answer.json()) as {
    access_token: string;
  };

  const testing = await Test.createTestingModule({
    imports: [
      McpModule.forRoot({ name: 'shop', version: '1.0.0' }),
      McpAuthModule.forRoot({
        resource: RESOURCE,
        authorizationServers: [issuer],
        verifier: jwtVerifier({ issuer, jwksUri: `${issuer}/jwks` }),
      }),
    ],
    providers: [OrderTools],
  }).compile();
  const app = testing.createNestApplication();
  await expect(createTestClient(app)).rejects.toThrow('401');
  const client = await createTestClient(app, {
    headers: { authorization: `Bearer ${token}` },
  });
  expect(
    textOf(await client.callTool({ name: 'listOrders', arguments: {} })),
  ).toBe('1 umbrella');
  await expect(
    client.callTool({ name: 'placeOrder', arguments: {} }),
  ).rejects.toThrow('orders:write');
  await client.close();
  await app.close();
});
