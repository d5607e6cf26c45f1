// A worker: a process without HTTP that runs the handlers of tasks, which the application has put into the queue.
import { Processor, WorkerHost } from '@nestjs/bullmq';
import { Module, type OnModuleDestroy } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { Job } from 'bullmq';
import { McpTasks, type QueuedTask } from 'nestjs-mcp/tasks';
import { AppModule } from './app.module.js';

// #region worker
// A handler that waits for an elicitation occupies a slot, so the concurrency is high.
@Processor('tasks', { concurrency: 50 })
class TaskWorker extends WorkerHost implements OnModuleDestroy {
  constructor(private readonly tasks: McpTasks) {
    super();
  }

  process({ data }: Job<QueuedTask>) {
    return this.tasks.run(data);
  }

  /** The tasks that run get the time of the shutdown, but no further task begins. */
  async onModuleDestroy() {
    await this.worker.pause(true);
  }
}

@Module({ imports: [AppModule], providers: [TaskWorker] })
class WorkerModule {}

async function bootstrap() {
  const app = await NestFactory.createApplicationContext(WorkerModule, { logger: ['error', 'warn'] });
  app.enableShutdownHooks();
}
// #endregion worker

void bootstrap().then(() => console.log(`${process.env.NODE} is ready`));
