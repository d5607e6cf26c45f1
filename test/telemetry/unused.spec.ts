import { McpServers } from '../../lib/module/mcp-servers.js';
import { context, createNoopMeter, ProxyTracer, trace } from '@opentelemetry/api';
import { BasicTracerProvider } from '@opentelemetry/sdk-trace-base';
import { McpMetrics, McpTelemetryModule } from 'nestjs-mcp/telemetry';
import { startApp } from '../fixtures/matrix.js';
import { Handlers } from './handlers.js';
import { Lines } from './lines.js';

const imports = [McpTelemetryModule.forRoot({ interceptors: 'spans' })];

/** What a server keeps to observe requests with. */
async function observersWith(modules: object[]) {
  const test = await startApp([Handlers], { module: { imports: modules as never } });
  const [{ observer, asking, rounds }] = test.app.get(McpServers, { strict: false }).all();
  await test.close();
  return [observer, asking, rounds.traffic];
}

it('without the module a server has nothing to observe its requests with', async () => {
  expect(await observersWith([])).toEqual([undefined, undefined, undefined]);
  expect(await observersWith(imports)).not.toContain(undefined);
});

it('without an SDK a call makes no span and no attributes for metrics, and McpMetrics counts it', async () => {
  const unused = [
    jest.spyOn(createNoopMeter(), 'createHistogram'),
    jest.spyOn(ProxyTracer.prototype, 'startSpan'),
    jest.spyOn(context, 'with'),
  ];
  const test = await startApp([Handlers], { module: { imports } });
  const client = await test.client();
  await client.getPrompt({ name: 'greet' });
  const { operations } = test.app.get(McpMetrics).snapshot();
  expect(operations).toContainEqual(expect.objectContaining({ method: 'prompts/get', prompt: 'greet' }));
  expect(unused.map(spy => spy.mock.calls.length)).toEqual([0, 0, 0]);
  await test.close();
});

it('the log says that an SDK was registered too late', async () => {
  const lines = new Lines();
  const configure = (app: { useLogger(logger: Lines): void }) => {
    app.useLogger(lines);
    trace.setGlobalTracerProvider(new BasicTracerProvider());
  };
  const test = await startApp([Handlers], { module: { imports }, configure });
  trace.disable();
  await test.close();
  expect(lines.of('McpTelemetry')).toEqual([expect.stringContaining('before NestFactory.create')]);
});
