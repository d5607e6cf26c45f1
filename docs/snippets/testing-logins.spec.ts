import { Injectable, Module } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import type { Client } from '@modelcontextprotocol/client';
import type { INestApplication } from '@nestjs/common';
import { McpModule, Tool } from 'nestjs-mcp';
import {
  jwtVerifier,
  McpAuthModule,
  RequireScopes,
  type TokenVerifier,
} from 'nestjs-mcp/auth';
import { createTestClient } from 'nestjs-mcp/testing';

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

// #region module
const TOKENS = Symbol('verifier');

@Module({
  providers: [
    {
      provide: TOKENS,
      useFactory: () =>
        jwtVerifier({
          issuer: 'https://login.example.com',
          jwksUri: 'https://login.example.com/jwks',
        }),
    },
  ],
  exports: [TOKENS],
})
class TokensModule {}

@Module({
  imports: [
    McpModule.forRoot({ name: 'shop', version: '1.0.0' }),
    McpAuthModule.forRootAsync({
      imports: [TokensModule],
      inject: [TOKENS],
      useFactory: (verifier: TokenVerifier) => ({
        authorizationServers: ['https://login.example.com'],
        verifier,
      }),
    }),
  ],
  providers: [OrderTools],
})
class AppModule {}
// #endregion module

let app: INestApplication;
let client: Client;

// #region test
const anyToken: TokenVerifier = {
  verifyAccessToken: async token => ({
    token,
    clientId: 'test',
    scopes: token === 'reader' ? ['orders:read'] : [],
    expiresAt: Date.now() / 1000 + 60,
    extra: { sub: token },
  }),
};

beforeAll(async () => {
  const testing = await Test.createTestingModule({ imports: [AppModule] })
    .overrideProvider(TOKENS)
    .useValue(anyToken)
    .compile();
  app = testing.createNestApplication();
  const headers = { authorization: 'Bearer reader' };
  client = await createTestClient(app, { headers });
});

it('lists the orders for a reader', async () => {
  const result = await client.callTool({ name: 'listOrders', arguments: {} });
  expect(result.content).toEqual([{ type: 'text', text: '1 umbrella' }]);
});

it('lets no reader order', async () => {
  const placing = client.callTool({ name: 'placeOrder', arguments: {} });
  await expect(placing).rejects.toThrow('orders:write');
});
// #endregion test

afterAll(async () => {
  await client.close();
  await app.close();
});
