import { setTimeout as pause } from 'node:timers/promises';
import { check, connect, drive, startSample, textOf } from '../support/drive.js';

interface Answer {
  readonly result: Record<string, unknown> & { readonly taskId: string; readonly status: string };
}

/** The SDK's client does not know tasks yet, so the requests are written out. */
async function send(url: string, method: string, params: Record<string, unknown>): Promise<Answer['result']> {
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': method,
      'mcp-name': String(params.taskId ?? params.name),
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method,
      params: {
        ...params,
        _meta: {
          'io.modelcontextprotocol/protocolVersion': '2026-07-28',
          'io.modelcontextprotocol/clientInfo': { name: 'drive', version: '1.0.0' },
          'io.modelcontextprotocol/clientCapabilities': {
            elicitation: { form: {} },
            extensions: { 'io.modelcontextprotocol/tasks': {} },
          },
        },
      },
    }),
  });
  return ((await response.json()) as Answer).result;
}

drive(async () => {
  const sample = await startSample('61-tasks');
  const { url } = sample;

  /** Polls a task until its status is another one than `status`. */
  const after = async (status: string, { taskId, pollIntervalMs }: Answer['result']) => {
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
