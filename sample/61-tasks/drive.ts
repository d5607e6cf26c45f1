import { setTimeout as pause } from 'node:timers/promises';
import { check, connect, drive, startSample, textOf } from '../support/drive.js';
import { send, type Task } from '../support/tasks.js';

drive(async () => {
  const sample = await startSample('61-tasks');
  const { url } = sample;

  /** Polls a task until its status is another one than `status`. */
  const after = async (status: string, { taskId, pollIntervalMs }: Task) => {
    for (;;) {
      const task = await send(url, 'tasks/get', { taskId });
      if (task.status !== status) return task;
      await pause(pollIntervalMs as number);
    }
  };
  const report = () => send(url, 'tools/call', { name: 'report', arguments: { year: 2026 } });

  console.log('2026-07-28, with tasks');
  const task = await report();
  check('the call becomes a task', task.resultType, 'task');
  const asking = await after('working', task);
  check('the task asks', Object.keys(asking.inputRequests as object), ['format']);
  const inputResponses = { format: { action: 'accept', content: { format: 'csv' } } };
  await send(url, 'tasks/update', { taskId: task.taskId, inputResponses });
  const done = await after('working', task);
  check('the result', textOf(done.result as never), 'year,orders\n2026,468');

  const other = await report();
  await send(url, 'tasks/cancel', { taskId: other.taskId });
  const { status } = await send(url, 'tasks/get', { taskId: other.taskId });
  check('a cancelled task', status, 'cancelled');

  const short = await send(url, 'tools/call', { name: 'export', arguments: { year: 2026 } });
  check('a short call is no task', short.resultType, 'complete');

  console.log('2025-11-25');
  const client = await connect(url, '2025-11-25', {
    user: () => ({ action: 'accept', content: { format: 'text' } }),
  });
  const answer = await client.callTool({ name: 'report', arguments: { year: 2026 } });
  check('an ordinary call', textOf(answer), '468 orders in 2026');
  await client.close();
  await sample.stop();
});
