import { McpMetrics, McpTelemetryModule } from 'nestjs-mcp/telemetry';
import { McpGatewayModule } from 'nestjs-mcp/gateway';
import { Module } from '@nestjs/common';
import { startApp } from '../fixtures/matrix.js';
import { soakSize } from '../fixtures/soak.js';
import { connect, listen } from '../gateway/support.js';
import { Handlers } from './handlers.js';
import { Recorder } from './recorder.js';

it('calls of invented tools make no series, in a server and in a gateway before it', async () => {
  const recorder = new Recorder();
  const test = await startApp([Handlers], { module: { imports: [McpTelemetryModule.forRoot()] } });
  const backend = { url: await test.url() };
  @Module({ imports: [McpGatewayModule.forRoot({ backend }), McpTelemetryModule.forRoot()] })
  class GatewayModule {}
  const gateway = await listen(GatewayModule);
  const client = await connect(gateway.url, 'modern');
  const call = (name: string) => client.callTool({ name }).catch(() => undefined);
  const series = async () => {
    const points = async (side: string) =>
      (await recorder.metric(`mcp.${side}.operation.duration`))!.dataPoints.length;
    const counted = [test, gateway].map(({ app }) => app.get(McpMetrics).snapshot().operations.length);
    return [...counted, await points('server'), await points('client')];
  };
  await call('invented-0');
  await call('invented-1');
  const before = await series();
  for (let index = 2; index < soakSize(10_000, 1000); index++) {
    await call(`invented-${index}`);
    // Spans of invented names are no metric, and need not be kept here.
    if (index % 100 === 0) recorder.reset();
  }
  expect(await series()).toEqual(before);
  expect(before.every(count => count > 0)).toBe(true);
  await client.close();
  await gateway.app.close();
  await test.close();
  await recorder.close();
}, 600_000);
