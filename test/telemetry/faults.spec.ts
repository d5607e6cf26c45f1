import { Injectable } from '@nestjs/common';
import { trace } from '@opentelemetry/api';
import { BasicTracerProvider, type SpanProcessor } from '@opentelemetry/sdk-trace-base';
import { McpMetrics, McpTelemetryModule } from 'nestjs-mcp/telemetry';
import { Tool } from 'nestjs-mcp';
import { startApp, textOf } from '../fixtures/matrix.js';
import { Looks } from './handlers.js';
import { Lines } from './lines.js';

@Injectable()
class Tools {
  @Tool()
  hello() {
    return 'hello';
  }
}

/** A processor of the application that fails at one moment. */
const failingAt = (moment: 'onStart' | 'onEnd'): SpanProcessor => ({
  onStart: () => undefined,
  onEnd: () => undefined,
  forceFlush: () => Promise.resolve(),
  shutdown: () => Promise.resolve(),
  [moment]: () => {
    throw new Error('exporter');
  },
});

describe.each(['events', 'spans'] as const)('interceptors as %s', interceptors => {
  it.each(['onStart', 'onEnd'] as const)('a span processor that fails in %s stops nothing', async moment => {
    trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [failingAt(moment)] }));
    const lines = new Lines();
    const imports = [McpTelemetryModule.forRoot({ interceptors, callLog: 'log' })];
    const configure = (app: { useLogger(logger: Lines): void }) => app.useLogger(lines);
    const test = await startApp([Tools, Looks], { module: { imports }, configure });
    const client = await test.client();
    expect(textOf(await client.callTool({ name: 'hello' }))).toBe('hello');
    const { operations } = test.app.get(McpMetrics).snapshot();
    const call = operations.find(({ method }) => method === 'tools/call');
    expect(call).toMatchObject({ tool: 'hello', duration: { count: 1 } });
    const line = lines.of('McpCalls').find(({ name }) => name === 'hello');
    expect(line).toMatchObject({ outcome: 'ok' });
    await test.close();
    trace.disable();
  });
});
