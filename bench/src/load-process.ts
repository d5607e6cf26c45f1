import autocannon from 'autocannon';
import type { Load, Throughput } from './load.js';
import { TASK, type Posted } from './requests.js';

process.once('message', async ({ url, requests, ms }: Load) => {
  let next = 0;
  const {
    errors,
    non2xx,
    requests: sent,
    latency,
    duration,
  } = await autocannon({
    url,
    method: 'POST',
    connections: requests.length,
    duration: ms / 1000,
    setupClient(client) {
      const { poll, ...request } = requests[next++];
      if (poll) client.setRequests(polling(request, poll));
      else client.setHeadersAndBody(request.headers, request.body);
    },
  });
  if (errors + non2xx > 0) throw new Error(`${errors} requests failed, ${non2xx} were refused`);
  // A request and its poll are one.
  const total = sent.total / (requests[0].poll ? 2 : 1);
  const answer: Throughput = { count: total, rps: total / duration, p99Ms: latency.p99 };
  process.send!(answer, () => process.exit());
});

/** A request that creates a task, and its poll. */
const polling = (create: Posted, poll: Posted): autocannon.Request[] => [
  {
    method: 'POST',
    ...create,
    onResponse: (_status, body, context: { taskId?: string }) => {
      context.taskId = /"taskId":"([^"]+)"/.exec(body)![1];
    },
  },
  {
    method: 'POST',
    setupRequest: (request, { taskId }: { taskId?: string }) => ({
      ...request,
      headers: { ...poll.headers, 'mcp-name': taskId },
      body: poll.body.replace(TASK, taskId!),
    }),
    onResponse: (_status, body) => {
      if (!body.includes('"status":"')) throw new Error(`The poll was answered ${body}`);
    },
  },
];
