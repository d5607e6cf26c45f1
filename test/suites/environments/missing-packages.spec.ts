import { Module, type DynamicModule, type INestApplication } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { McpModule } from 'nestjs-mcp';
import { jwtVerifier, McpAuthModule } from 'nestjs-mcp/auth';
import { McpClientModule } from 'nestjs-mcp/client';
import { McpGatewayModule } from 'nestjs-mcp/gateway';
import { McpRedisModule } from 'nestjs-mcp/redis';
import { createTestClient } from 'nestjs-mcp/testing';

// As if the packages were not installed: Node's error for them.
function missing(): never {
  throw Object.assign(new Error('Cannot find module'), { code: 'MODULE_NOT_FOUND' });
}
jest.mock('@modelcontextprotocol/client', () => missing());
jest.mock('jose', () => missing());
jest.mock('redis', () => missing());

const URL = 'http://127.0.0.1:9/mcp';
const CLIENT = '@modelcontextprotocol/client';

const server = (options = {}) => McpModule.forRoot({ name: 'test', version: '1.0.0', ...options });
const verifier = jwtVerifier({ issuer: 'http://127.0.0.1:9', jwksUri: 'http://127.0.0.1:9/keys' });
const auth = { resource: URL, authorizationServers: ['http://127.0.0.1:9'], verifier };

function start(...imports: DynamicModule[]): Promise<INestApplication> {
  @Module({ imports })
  class AppModule {}
  return NestFactory.create(AppModule, { logger: false, abortOnError: false });
}

const sentence = (where: string, name: string) =>
  `${where}: the package "${name}" cannot be loaded; install it with \`npm install ${name}\``;

it.each<[string, string, ...DynamicModule[]]>([
  ['McpClientModule', CLIENT, McpClientModule.register([{ name: 'a', url: URL }])],
  ['McpGatewayModule', CLIENT, McpGatewayModule.forRoot({ path: '/mcp', backend: { url: URL } })],
  ['The interceptor server "a"', CLIENT, server({ interceptors: { servers: [{ name: 'a', url: URL }] } })],
  ['jwtVerifier', 'jose', server(), McpAuthModule.forRoot(auth)],
  ['McpRedisModule', 'redis', server(), McpRedisModule.forRoot({ url: 'redis://127.0.0.1:9' })],
])('%s stops the start if %s is missing', async (where, name, ...imports) => {
  const starting = start(...imports).then(app => app.init());
  await expect(starting).rejects.toThrow(sentence(where, name));
});

it('one start finds all packages that are missing', async () => {
  const gateway = McpGatewayModule.forRoot({ path: '/mcp', backend: { url: URL } });
  const redis = McpRedisModule.forRoot({ url: 'redis://127.0.0.1:9' });
  const starting = start(gateway, McpAuthModule.forRoot(auth), redis).then(app => app.init());
  const error: unknown = await starting.catch((thrown: unknown) => thrown);
  expect(String(error)).toContain(sentence('McpGatewayModule', CLIENT));
  expect(String(error)).toContain(sentence('jwtVerifier', 'jose'));
  expect(String(error)).toContain(sentence('McpRedisModule', 'redis'));
});

it('createTestClient needs the SDK client, but the server does not', async () => {
  const app = await start(server());
  await expect(createTestClient(app)).rejects.toThrow(sentence('createTestClient', CLIENT));
  await app.close();
});
