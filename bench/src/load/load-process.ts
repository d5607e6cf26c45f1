// Loads a server, and prints what it measured: a process of its own, so that it can have a core of its own.
import { repeat } from './connection.js';
import type { Load, Throughput } from './load.js';

const { port, requests, warmUpMs, ms } = JSON.parse(process.argv[2]) as Load;

const times: number[] = [];
const fail = (error: Error) => {
  console.error(error.message);
  process.exit(1);
};
for (const request of requests) repeat(port, Buffer.from(request), time => times.push(time), fail);

setTimeout(() => {
  times.length = 0;
  const start = performance.now();
  const cpu = process.cpuUsage();
  const end = () => {
    // At least one answer, however slow the server is.
    if (times.length === 0) return void setTimeout(end, ms);
    const elapsed = performance.now() - start;
    const { user, system } = process.cpuUsage(cpu);
    const sorted = Float64Array.from(times).sort();
    const measured: Throughput = {
      rps: (sorted.length * 1000) / elapsed,
      p99Ms: sorted[Math.floor(sorted.length * 0.99)],
      loadCpu: (user + system) / 1000 / elapsed,
    };
    process.stdout.write(JSON.stringify(measured), () => process.exit());
  };
  setTimeout(end, ms);
}, warmUpMs);
