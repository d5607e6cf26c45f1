import type { Server } from 'node:http';
import { Global, Module, type OnModuleInit } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { McpModule } from 'nestjs-mcp';
import { deferred } from '../fixtures/deferred.js';

// Nest goes on with the start of an application that was closed meanwhile.
it('an application that is closed while its modules start serves nothing afterwards', async () => {
  const begun = deferred<void>();
  const gate = deferred<void>();

  @Global()
  @Module({})
  class Slow implements OnModuleInit {
    async onModuleInit() {
      begun.resolve();
      await gate.promise;
    }
  }

  @Module({ imports: [Slow, McpModule.forRoot({ name: 'test', version: '1.0.0' })] })
  class AppModule {}

  const app = await NestFactory.create(AppModule, { logger: false, forceCloseConnections: true });
  const listening = app.listen(0, '127.0.0.1');
  await begun.promise;
  await app.close();
  gate.resolve();
  await listening;
  const response = await fetch(`${await app.getUrl()}/mcp`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
  });
  expect(response.status).toBe(503);
  await new Promise(resolve => (app.getHttpServer() as Server).close(resolve));
});
