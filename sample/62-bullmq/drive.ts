import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { McpClientModule, McpClients, OnElicitation } from 'nestjs-mcp/client';
import { check, drive, startProcess, startSample, textOf, type RunningProcess } from '../support/drive.js';
import { isInstalled, startRedis } from '../support/redis.js';

/** Answers the elicitations of tasks. */
class User {
  @OnElicitation('reports')
  answer() {
    return { action: 'accept', content: { format: 'csv' } } as const;
  }
}

/** Its first line is `worker 1 is ready`. */
const nameOf = ({ lines }: RunningProcess): string => lines[0].slice(0, 'worker 1'.length);

drive(async () => {
  if (!isInstalled()) {
    console.log('  skipped: redis-server is not installed (on Debian: apt-get install redis-server)');
    return;
  }
  const redis = await startRedis();
  const env = { REDIS_URL: redis.url };
  const startWorker = async (NODE: string) => {
    const worker = startProcess('62-bullmq/worker', { ...env, NODE });
    await worker.printed(/is ready$/);
    return worker;
  };
  const app = await startSample('62-bullmq', { ...env, NODE: 'the application' });
  const workers = await Promise.all(['worker 1', 'worker 2'].map(startWorker));
  /** The worker that reads a month. */
  const readerOf = (month: string) =>
    Promise.any(workers.map(async worker => (await worker.printed(new RegExp(`reads ${month}$`)), worker)));

  @Module({
    imports: [McpClientModule.register([{ name: 'reports', url: app.url, era: 'modern' }])],
    providers: [User],
  })
  class DriveModule {}
  const user = await NestFactory.createApplicationContext(DriveModule, { logger: ['error', 'warn'] });
  const client = user.get(McpClients).get('reports')!;
  await client.listTools();
  const count = (year: number) => client.startTool({ name: 'count', arguments: { year } });

  const report = await client.callTool({ name: 'report', arguments: { year: 2026 } });
  check('a task that asks', textOf(report), /^worker \d has built 2026 as csv$/);

  const cancelled = await count(2025);
  await readerOf('2025-2');
  await cancelled.cancel();
  check('a cancelled task', (await cancelled.status())?.status, 'cancelled');

  const counted = await count(2026);
  const dead = await readerOf('2026-4');
  await dead.kill();
  console.log(`  ${nameOf(dead)} is killed in the middle of a task with retry`);
  const [other] = workers.filter(worker => worker !== dead);
  const [, month] = await other.printed(/reads 2026-(\d+)$/);
  check(`${nameOf(other)} goes on at month`, month, '4');
  check('the result', textOf(await counted.result()), '468 orders');
  const lines = workers.flatMap(worker => worker.lines);
  check('the handler of the cancelled task has read all', lines.join().includes('2025-12'), false);

  await user.close();
  await Promise.all([other.stop(), app.stop()]);
  await redis.stop();
});
