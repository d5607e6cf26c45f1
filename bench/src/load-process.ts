import autocannon from 'autocannon';
import type { Load, Throughput } from './load.js';

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
      const { headers, body } = requests[next++];
      client.setHeadersAndBody(headers, body);
    },
  });
  if (errors + non2xx > 0) throw new Error(`${errors} requests failed, ${non2xx} were refused`);
  const { total } = sent;
  const answer: Throughput = { count: total, rps: total / duration, p99Ms: latency.p99 };
  process.send!(answer, () => process.exit());
});
