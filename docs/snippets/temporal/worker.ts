import { NestFactory } from '@nestjs/core';
import { Worker } from '@temporalio/worker';
import { McpTasks, type QueuedTask } from 'nestjs-mcp/tasks';
import { AppModule } from './app.module.js';

// #region worker
const activitiesOf = (tasks: McpTasks) => ({
  run: (task: QueuedTask) => tasks.run(task),
});

export type Activities = ReturnType<typeof activitiesOf>;

export async function bootstrap() {
  const app = await NestFactory.createApplicationContext(AppModule);
  app.enableShutdownHooks();
  const worker = await Worker.create({
    taskQueue: 'mcp-tasks',
    workflowsPath: require.resolve('./workflow'),
    activities: activitiesOf(app.get(McpTasks)),
  });
  await worker.run();
}
// #endregion worker
