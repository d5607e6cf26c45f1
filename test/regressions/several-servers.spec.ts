import { Injectable } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { McpModule, Tool } from 'nestjs-mcp';
import { createTestClient } from 'nestjs-mcp/testing';
import { deferred } from '../fixtures/deferred.js';
import { startApp, type TestApp } from '../fixtures/matrix.js';

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
