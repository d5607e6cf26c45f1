import { Injectable, Module, UseGuards, type INestApplication } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Test } from '@nestjs/testing';
import { McpModule, Tool } from 'nestjs-mcp';
import { createTestClient } from 'nestjs-mcp/testing';
import { deferred } from '../test/fixtures/deferred.js';
import { LogSpy } from '../test/fixtures/log-spy.js';
import { startApp, textOf, type TestApp } from '../test/fixtures/matrix.js';

@Injectable()
class Tools {
  @Tool()
  hello() {
    return 'hello';
  }
}

const namesAt = async (test: TestApp, server: string) => {
  const { tools } = await (await test.client({ server })).listTools();
  return tools.map(({ name }) => name);
};

describe('several servers', () => {
  it('have the same first one, however long its options take', async () => {
    const slow = deferred();
    const compiling = Test.createTestingModule({
      imports: [
        McpModule.forRootAsync({
          useFactory: async () => {
            await slow.promise;
            return { name: 'first', version: '1', http: { path: '/first' } };
          },
        }),
        McpModule.forRootAsync({
          useFactory: () => {
            // Settles the other one's options after this one's.
            setImmediate(() => slow.resolve());
            return { name: 'second', version: '1', http: { path: '/second' } };
          },
        }),
      ],
      providers: [Tools],
    }).compile();
    const app = (await compiling).createNestApplication();
    await app.init();
    const client = await createTestClient(app, { server: 'first' });
    expect(client.getServerVersion()?.name).toBe('first');
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['hello']);
    await client.close();
    await app.close();
  });

  it('each have a class that forFeature gave to all of them', async () => {
    const test = await startApp([Tools], {
      mcp: { name: 'open' },
      module: {
        imports: [
          McpModule.forRoot({ name: 'admin', version: '1', http: { path: '/admin/mcp' } }),
          McpModule.forFeature([Tools], { server: 'open' }),
          McpModule.forFeature([Tools], { server: 'admin' }),
        ],
      },
    });
    expect(await namesAt(test, 'open')).toEqual(['hello']);
    expect(await namesAt(test, 'admin')).toEqual(['hello']);
    await test.close();
  });
});

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

describe('forRootAsync', () => {
  it('refuses route decorators that its factory returns, for they would not run', async () => {
    const denying = { canActivate: () => false };
    const testing = await Test.createTestingModule({
      imports: [
        McpModule.forRootAsync({
          useFactory: () => ({ name: 'test', version: '1', http: { decorators: [UseGuards(denying)] } }),
        }),
      ],
    })
      .setLogger(new LogSpy())
      .compile();
    await expect(testing.init()).rejects.toThrow(
      /"http\.decorators" .*pass them to forRootAsync as "decorators"/,
    );
  });
});
