import { Injectable } from '@nestjs/common';
import { metrics } from '@opentelemetry/api';
import { PrometheusExporter, PrometheusSerializer } from '@opentelemetry/exporter-prometheus';
import { MeterProvider } from '@opentelemetry/sdk-metrics';
import { Ctx, McpContext, Sink, Tool } from 'nestjs-mcp';
import { McpTasksModule } from 'nestjs-mcp/tasks';
import { McpTelemetryModule } from 'nestjs-mcp/telemetry';
import { INITIALIZE, sendAs } from '../fixtures/limits.js';
import { startApp } from '../fixtures/matrix.js';
import { send, WatchedTasks } from '../tasks/task-client.js';
import { Handlers } from '../telemetry/handlers.js';

@Injectable()
class More {
  @Tool({ task: { after: 60_000 } })
  async report(@Ctx() ctx: McpContext) {
    await ctx.task?.begin();
    return 'reported';
  }

  @Sink({ name: 'audit', events: ['tools/call'] })
  audit() {}
}

/** The labels of each metric that an application with all kinds of traffic shows to Prometheus. */
export async function exportedMetrics(): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const exporter = new PrometheusExporter({ preventServerStart: true });
  const provider = new MeterProvider({ readers: [exporter] });
  metrics.setGlobalMeterProvider(provider);
  try {
    let text = '';
    await makeTraffic(async () => {
      const { resourceMetrics } = await exporter.collect();
      text = new PrometheusSerializer().serialize(resourceMetrics);
    });
    return labelsIn(text);
  } finally {
    await provider.shutdown();
    metrics.disable();
  }
}

async function makeTraffic(read: () => Promise<void>): Promise<void> {
  const store = new WatchedTasks();
  const test = await startApp([Handlers, More], {
    mcp: {
      mrtr: { secret: 's'.repeat(32) },
      sessions: { max: 2 },
      interceptors: { servers: [{ name: 'policy', url: 'http://127.0.0.1:9/mcp', skipWhenUnlisted: true }] },
    },
    module: { imports: [McpTasksModule.forRoot({ store }), McpTelemetryModule.forRoot()] },
  });
  const onElicit = () => ({ action: 'accept' as const, content: {} });
  const modern = await test.client({ era: 'modern', onElicit });
  await modern.callTool({ name: 'asks' });
  await modern.callTool({ name: 'broken' });
  await modern.callTool({ name: 'refused' }).catch(() => undefined);
  const task = await send(await test.url(), 'tools/call', { name: 'report', arguments: {} });
  await store.untilStatus('completed', task.result!.taskId);
  const legacy = await test.client({ era: 'legacy', onElicit: () => Promise.reject(new Error('declined')) });
  await legacy.callTool({ name: 'elicits' }).catch(() => undefined);
  // The second and third session: one too many.
  for (let count = 0; count < 2; count++) await (await sendAs(test, undefined, INITIALIZE)).text();
  await legacy.close();
  await modern.close();
  // The gauges end with the application.
  await read();
  await test.close();
}

const labelsIn = (text: string) => {
  const found = new Map<string, Set<string>>();
  for (const [, name, labels = ''] of text.matchAll(/^([a-z]\w*)(?:\{(.*)\})? \S/gm)) {
    const known = found.get(name) ?? new Set();
    found.set(name, known);
    for (const [, label] of labels.matchAll(/(\w+)="/g)) known.add(label);
  }
  return found;
};
