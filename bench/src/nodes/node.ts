// A node that shares its sessions over Redis. The parent asks it to change a list and what it costs.
import 'reflect-metadata';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Args, Ctx, McpContext, McpModule, McpServerRegistry, Tool } from '../../../dist/cjs/index.js';
import { McpRedisModule } from '../../../dist/cjs/redis/index.js';

export type Request = 'change' | 'start' | 'watch' | 'stop';

export interface Cost {
  /** The longest time without a turn of the event loop, in milliseconds. */
  readonly longestMs: number;
  /** The most CPU time of a turn, in milliseconds, of a node that watches its turns. */
  readonly mostCpuMs: number;
  /** CPU time, in milliseconds. */
  readonly cpuMs: number;
  readonly heapMb: number;
}

class Tools {
  @Tool({ inputSchema: { type: 'object' } })
  echo(@Args() { text }: { text: string }) {
    return text;
  }

  @Tool({ inputSchema: { type: 'object' } })
  async report(@Args() { events }: { events: number }, @Ctx() ctx: McpContext) {
    for (let index = 1; index <= events; index++) void ctx.reportProgress(index);
    return 'done';
  }
}

const MANY = { max: 1_000_000, maxPerCaller: 1_000_000 };

@Module({
  imports: [
    McpModule.forRoot({
      name: 'nodes',
      version: '1.0.0',
      mrtr: { secret: 'a secret of more than thirty-two bytes' },
      http: { maxListeners: MANY.max, maxListenersPerCaller: MANY.max },
      sessions: MANY,
      calls: MANY,
    }),
    McpRedisModule.forRoot({ url: process.env['REDIS_URL']! }),
  ],
  providers: [Tools],
})
class App {}

const app = await NestFactory.create(App, { logger: ['warn', 'error'] });
await app.listen(0, '127.0.0.1');
const registry = app.get(McpServerRegistry);
const delay = monitorEventLoopDelay({ resolution: 1 });
let cpu = process.cpuUsage();
let changes = 0;
let mostCpuMs = 0;
let isWatching = false;

/** Looks at each turn of the event loop, which does not rest meanwhile. */
function watch(): void {
  const before = process.cpuUsage();
  setImmediate(() => {
    const { user, system } = process.cpuUsage(before);
    mostCpuMs = Math.max(mostCpuMs, (user + system) / 1000);
    if (isWatching) watch();
  });
}

process.on('message', (request: Request) => {
  if (request === 'change') {
    const name = `tool${(changes += 1)}`;
    void registry.add('tool', { name, inputSchema: { type: 'object' } }, () => name);
  } else if (request === 'start') {
    delay.reset();
    delay.enable();
    cpu = process.cpuUsage();
  } else if (request === 'watch') {
    isWatching = true;
    watch();
  } else {
    isWatching = false;
    const { user, system } = process.cpuUsage(cpu);
    (globalThis as { gc?: () => void }).gc?.();
    const cost: Cost = {
      longestMs: delay.max / 1e6,
      mostCpuMs,
      cpuMs: (user + system) / 1000,
      heapMb: process.memoryUsage().heapUsed / 1e6,
    };
    process.send!(cost);
  }
});
process.once('disconnect', () => process.exit(0));
process.send!(`${await app.getUrl()}/mcp`);
