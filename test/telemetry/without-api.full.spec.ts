import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Ctx, McpContext, McpModule, Tool } from 'nestjs-mcp';
import { McpHealthIndicator, McpMetrics, McpTelemetryModule } from 'nestjs-mcp/telemetry';
import { startClients } from '../client/fixtures.js';
import { startApp } from '../fixtures/matrix.js';
import { Lines } from './lines.js';

// As if the package were not installed: Node's error for it.
jest.mock('@opentelemetry/api', () => {
  throw Object.assign(new Error("Cannot find module '@opentelemetry/api'"), { code: 'MODULE_NOT_FOUND' });
});

@Injectable()
class Tools {
  @Tool()
  hello() {
    return 'hello';
  }

  @Tool()
  async asks(@Ctx() ctx: McpContext) {
    await ctx.elicit('which', { message: 'Which?', schema: { type: 'object', properties: {} } });
    return 'asked';
  }
}

describe.each(['modern', 'legacy'] as const)('without @opentelemetry/api, %s', era => {
  it('metrics, health and the call log work', async () => {
    const lines = new Lines();
    const imports = [McpTelemetryModule.forRoot({ callLog: 'log', interceptors: 'spans' })];
    const test = await startApp([Tools], { module: { imports }, configure: app => app.useLogger(lines) });
    const onElicit = () => ({ action: 'accept' as const, content: {} });
    const client = await test.client({ era, onElicit });
    await client.callTool({ name: 'asks' });
    const clients = await startClients([{ name: 'shop', url: await test.url(), era }], [], { imports });
    // Nest has one logger for all applications.
    clients.app.useLogger(lines);
    await clients.client().callTool({ name: 'hello' });
    const { operations, rounds } = test.app.get(McpMetrics).snapshot();
    const hello = operations.find(({ tool }) => tool === 'hello');
    expect(hello).toMatchObject({
      side: 'server',
      name: 'test',
      method: 'tools/call',
      duration: { count: 1 },
    });
    expect(rounds.count).toBe(1);
    const sent = clients.app.get(McpMetrics).snapshot().operations;
    expect(sent).toContainEqual(expect.objectContaining({ side: 'client', tool: 'hello' }));
    expect(await test.app.get(McpHealthIndicator).readiness()).toEqual({
      mcp: { status: 'up', servers: { test: 'up' } },
    });
    const call = lines.of('McpCalls').find(({ name }) => name === 'hello');
    expect(call).toMatchObject({ method: 'tools/call', outcome: 'ok', traceId: undefined });
    await clients.app.close();
    await test.close();
  });
});

it('the log says which package is missing', async () => {
  @Module({
    imports: [McpModule.forRoot({ name: 'test', version: '1.0.0' }), McpTelemetryModule.forRoot()],
  })
  class AppModule {}
  const lines = new Lines();
  const app = await NestFactory.createApplicationContext(AppModule, { logger: lines });
  expect(lines.of('McpTelemetry')).toEqual([expect.stringContaining('"@opentelemetry/api"')]);
  await app.close();
});
