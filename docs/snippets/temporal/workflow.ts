import { proxyActivities } from '@temporalio/workflow';
import type { QueuedTask } from 'nestjs-mcp/tasks';
import type { Activities } from './worker.js';

const { run } = proxyActivities<Activities>({
  startToCloseTimeout: '1 hour', // the longest ttlMs of your tasks
});

export async function runTask(task: QueuedTask): Promise<void> {
  await run(task);
}
