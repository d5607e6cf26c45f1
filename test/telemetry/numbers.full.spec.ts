import { Injectable } from '@nestjs/common';
import { ExtensionMethod, McpExtension, Sink, Validator } from 'nestjs-mcp';
import { McpHealthIndicator, McpMetrics, McpTelemetryModule } from 'nestjs-mcp/telemetry';
import { z } from 'zod';
import { startApp } from '../fixtures/matrix.js';
import { Handlers } from './handlers.js';
import { Recorder } from './recorder.js';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const SPAN = 'b7ad6b7169203331';

const recorder = new Recorder();
afterAll(() => recorder.close());
const telemetry = { imports: [McpTelemetryModule.forRoot()] };

it('takes the span in _meta for the parent, and has own spans of handlers as children', async () => {
  const test = await startApp([Handlers], { module: telemetry });
  const client = await test.client({ era: 'modern' });
  recorder.reset();
  const _meta = { traceparent: `00-${TRACE}-${SPAN}-01` };
  await client.callTool({ name: 'echo', arguments: { text: 'a' }, _meta });
  await client.callTool({ name: 'emits', _meta });
  await test.close();
  const span = recorder.span('SERVER', 'tools/call echo');
  expect(span.spanContext().traceId).toBe(TRACE);
  expect(span.parentSpanContext?.spanId).toBe(SPAN);
  expect(recorder.span('INTERNAL', 'own').parentSpanContext?.spanId).toBe(span.spanContext().spanId);
  const emitting = recorder.span('SERVER', 'tools/call emits').spanContext();
  expect(recorder.span('INTERNAL', 'emitted').parentSpanContext?.spanId).toBe(emitting.spanId);
});

it('links each round of a 2026 call to the round before', async () => {
  const test = await startApp([Handlers], { module: telemetry });
  const onElicit = () => ({ action: 'accept' as const, content: {} });
  const client = await test.client({ era: 'modern', onElicit });
  recorder.reset();
  await client.callTool({ name: 'asks' });
  const rounds = recorder.spansOf('SERVER', 'tools/call asks');
  expect(rounds.map(({ links }) => links.map(({ context }) => context.spanId))).toEqual([
    [],
    [rounds[0].spanContext().spanId],
    [rounds[1].spanContext().spanId],
  ]);
  await test.close();
});

it('names the method of an extension, but no method that a caller made up', async () => {
  @McpExtension()
  class Search {
    @ExtensionMethod('acme/search')
    search() {
      return {};
    }
  }
  const test = await startApp([Search], { module: telemetry });
  const client = await test.client();
  recorder.reset();
  await client.request({ method: 'acme/search', params: {} }, z.looseObject({}));
  await client.request({ method: 'acme/other', params: {} }, z.looseObject({})).catch(() => undefined);
  await test.close();
  expect(recorder.span('SERVER', 'acme/search').attributes['mcp.method.name']).toBe('acme/search');
  expect(recorder.spansOf('SERVER', 'acme/other')).toEqual([]);
});

it('describes every metric, and names the server in the metrics of requests, sessions and interceptors', async () => {
  @Injectable()
  class Watches {
    @Validator({ name: 'watches', events: ['tools/call'] })
    watch() {
      return true;
    }

    @Sink({ name: 'fails', events: ['tools/call'] })
    fail() {
      throw new Error('unexpected');
    }
  }
  const servers = [{ name: 'policy', url: 'http://127.0.0.1:9/mcp', skipWhenUnlisted: true }];
  const mcp = { name: 'one', interceptors: { servers } };
  const test = await startApp([Handlers, Watches], { mcp, module: telemetry });
  const client = await test.client({ era: 'legacy' });
  await client.callTool({ name: 'echo', arguments: { text: 'a' } });
  await client.close();
  const all = await recorder.metrics();
  expect(all.filter(({ descriptor }) => descriptor.description === '')).toEqual([]);
  const serversOf = (name: string) =>
    all.find(({ descriptor }) => descriptor.name === name)?.dataPoints.map(one => one.attributes);
  const own = expect.arrayContaining([expect.objectContaining({ 'nestjs_mcp.name': 'one' })]) as object;
  expect(serversOf('mcp.server.operation.duration')).toEqual(own);
  expect(serversOf('nestjs_mcp.interceptor.breaker')).toEqual(own);
  expect(serversOf('nestjs_mcp.interceptor.outcomes')).toEqual(
    expect.arrayContaining(
      [
        { 'nestjs_mcp.interceptor.name': 'watches', 'nestjs_mcp.interceptor.outcome': 'pass' },
        { 'nestjs_mcp.interceptor.name': 'fails', 'nestjs_mcp.interceptor.outcome': 'crash' },
      ].map(attributes => ({ ...attributes, 'nestjs_mcp.name': 'one' })),
    ),
  );
  await test.close();
  expect((await recorder.metric('mcp.server.session.duration'))?.dataPoints).toEqual([
    expect.objectContaining({ attributes: expect.objectContaining({ 'nestjs_mcp.name': 'one' }) as object }),
  ]);
});

it('has no more series after calls of invented tools', async () => {
  const test = await startApp([Handlers], { module: telemetry });
  const client = await test.client();
  const call = (name: string) => client.callTool({ name, arguments: { text: 'a' } }).catch(() => undefined);
  await call('invented-0');
  const metrics = test.app.get(McpMetrics);
  const series = async () => (await recorder.metric('mcp.server.operation.duration'))!.dataPoints.length;
  const before = [metrics.snapshot().operations.length, await series()];
  for (let index = 1; index <= 100; index++) await call(`invented-${index}`);
  expect([metrics.snapshot().operations.length, await series()]).toEqual(before);
  await test.close();
});

it('has no more series after questions that a client answers with invented error codes', async () => {
  const test = await startApp([Handlers], { module: telemetry });
  let code = 1000;
  const onElicit = () => Promise.reject(Object.assign(new Error('invented'), { code: code++ }));
  const client = await test.client({ era: 'legacy', onElicit });
  recorder.reset();
  for (let index = 0; index < 10; index++) await client.callTool({ name: 'elicits' }).catch(() => undefined);
  const { operations } = test.app.get(McpMetrics).snapshot();
  const asked = operations.filter(({ method }) => method === 'elicitation/create');
  expect(asked.map(({ errorType, duration }) => [errorType, duration.count])).toEqual([['_OTHER', 10]]);
  const exported = (await recorder.metric('mcp.client.operation.duration'))!.dataPoints;
  const codes = exported.map(({ attributes }) => attributes['rpc.response.status_code']);
  expect(codes.filter(one => one !== undefined)).toEqual(['_OTHER']);
  const spans = recorder.spansOf('CLIENT', 'elicitation/create');
  expect(spans.map(({ attributes }) => attributes['error.type'])).toContain('1009');
  await test.close();
});

it('is ready until the application closes, and ends the spans of calls that it ends', async () => {
  const test = await startApp([Handlers], { module: telemetry, mcp: { shutdownTimeoutMs: 1 } });
  const health = test.app.get(McpHealthIndicator);
  const client = await test.client();
  expect((await health.readiness()).mcp).toEqual({ status: 'up', servers: { test: 'up' } });
  const { operations } = test.app.get(McpMetrics).snapshot();
  expect(operations.length).toBeGreaterThan(0);
  const waiting = client.callTool({ name: 'waits' }).catch(() => undefined);
  while (recorder.openSpans === 0) await new Promise(setImmediate);
  await test.app.close();
  await waiting;
  expect((await health.readiness()).mcp.status).toBe('down');
  expect(health.liveness()).toEqual({ mcp: { status: 'up' } });
  expect(recorder.openSpans).toBe(0);
  expect(recorder.span('SERVER', 'tools/call waits').attributes['error.type']).toBe('shutdown');
  await test.close();
});
