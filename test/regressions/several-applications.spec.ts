import type { INestApplication } from '@nestjs/common';
import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { McpModule, Tool } from 'nestjs-mcp';
import { createTestClient } from 'nestjs-mcp/testing';
import { textOf } from '../fixtures/matrix.js';

@Injectable()
class Counter {
  private count = 0;

  @Tool()
  next() {
    return String((this.count += 1));
  }
}

@Module({ imports: [McpModule.forRoot({ name: 'test', version: '1.0.0' })], providers: [Counter] })
class AppModule {}

const next = async (app: INestApplication) => {
  const client = await createTestClient(app);
  const text = textOf(await client.callTool({ name: 'next' }));
  await client.close();
  return text;
};

it('two applications of one module have endpoints of their own', async () => {
  const create = () => NestFactory.create(AppModule, { logger: false, forceCloseConnections: true });
  const [first, second] = [await create(), await create()];
  expect([await next(first), await next(first), await next(second)]).toEqual(['1', '2', '1']);
  await second.close();
  expect(await next(first)).toBe('3');
  await first.close();
});
