import { BullModule, getQueueToken } from '@nestjs/bullmq';
import { Module } from '@nestjs/common';
import type { Queue } from 'bullmq';
import { McpModule } from 'nestjs-mcp';
import { McpRedisModule } from 'nestjs-mcp/redis';
import { McpTasksModule } from 'nestjs-mcp/tasks';
import { Reports } from './reports.js';

const url = process.env.REDIS_URL!;

@Module({
  imports: [
    McpModule.forRoot({ name: 'reports', version: '1.0.0' }),
    McpRedisModule.forRoot({ url, prefix: 'reports:' }),
    BullModule.forRoot({
      connection: { url },
      prefix: 'reports-queue',
      defaultJobOptions: { attempts: 5, backoff: 1000, removeOnComplete: true, removeOnFail: 1000 },
    }),
    McpTasksModule.forRootAsync({
      imports: [BullModule.registerQueue({ name: 'tasks' })],
      inject: [getQueueToken('tasks')],
      useFactory: (queue: Queue) => ({
        runner: { start: task => queue.add('run', task) },
        leaseMs: 1000, // short, so that the sample does not take long
        pollIntervalMs: 100,
      }),
    }),
  ],
  providers: [Reports],
  exports: [McpTasksModule],
})
export class AppModule {}
