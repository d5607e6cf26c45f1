import { setImmediate as nextTurn } from 'node:timers/promises';
import { Injectable, Logger, Module } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { Tool } from 'nestjs-mcp';
import { createTestClient } from 'nestjs-mcp/testing';
import { deferred } from '../../test/fixtures/deferred.js';
import { connect, listen } from '../../test/gateway/support.js';
import { checkOutput } from './support.js';
import { AppModule, HealthModule, Load } from './telemetry.js';

const called = deferred();
const held = deferred();

@Injectable()
class Tools {
  @Tool()
  async waits() {
    called.resolve();
    await held.promise;
    return 'ended';
  }
}

@Module({ imports: [AppModule, HealthModule], providers: [Tools] })
class WaitingModule {}

it('the call log has a line for each call, and no call is left', async () => {
  const lines: string[] = [];
  const log = jest
    .spyOn(Logger.prototype, 'log')
    .mockImplementation(line => void lines.push(String(line)));
  const testing = Test.createTestingModule({
    imports: [AppModule],
    providers: [Load],
  });
  const app = (await testing.compile()).createNestApplication();
  const client = await createTestClient(app);
  await client.callTool({ name: 'search', arguments: { query: 'lamp' } });
  const line = lines.find(text => text.includes('method=tools/call'));
  checkOutput('call-log.txt', line?.replace(/(?<=durationMs=)\S+/, '2.417'));
  expect(app.get(Load).calls()).toBe(0);
  await client.close();
  await app.close();
  log.mockRestore();
});

it('a node that ends its calls is alive and not ready', async () => {
  const { app, url } = await listen(WaitingModule);
  const ask = async (path: string) => {
    const response = await fetch(new URL(path, url), {
      headers: { connection: 'close' },
    });
    return {
      code: response.status,
      ...((await response.json()) as { status: string }),
    };
  };
  expect(await ask('/live')).toMatchObject({ code: 200 });
  expect(await ask('/ready')).toMatchObject({ code: 200 });
  const client = await connect(url, 'modern');
  const call = client.callTool({ name: 'waits' });
  await called.promise;
  const closing = app.close();
  // Terminus, too, knows by then that the application shuts down.
  while ((await ask('/ready')).status !== 'shutting_down') await nextTurn();
  expect(await ask('/ready')).toMatchObject({
    code: 503,
    details: { mcp: { status: 'down' } },
  });
  expect(await ask('/live')).toMatchObject({
    code: 200,
    mcp: { status: 'up' },
  });
  held.resolve();
  await call;
  await client.close();
  await closing;
}, 20_000);
