import { McpServers } from '../../lib/server/mcp-servers.js';
import { createNoopMeter } from '@opentelemetry/api';
import { McpMetrics, McpTelemetryModule } from 'nestjs-mcp/telemetry';
import { startApp } from '../fixtures/matrix.js';
import { Handlers } from './handlers.js';

/** What a server keeps to observe requests with. */
async function observersWith(imports: object[]) {
  const test = await startApp([Handlers], { module: { imports: imports as never } });
  const [{ observer, asking, rounds }] = test.app.get(McpServers, { strict: false }).all();
  await test.close();
  return [observer, asking, rounds.traffic];
}

it('without the module a server has nothing to observe its requests with', async () => {
  expect(await observersWith([])).toEqual([undefined, undefined, undefined]);
  expect(await observersWith([McpTelemetryModule.forRoot()])).not.toContain(undefined);
});

it('without a metrics SDK a call makes no attributes for metrics, and McpMetrics counts it', async () => {
  const created = jest.spyOn(createNoopMeter(), 'createHistogram');
  const test = await startApp([Handlers], { module: { imports: [McpTelemetryModule.forRoot()] } });
  const client = await test.client();
  await client.callTool({ name: 'echo', arguments: { text: 'a' } });
  expect(created).not.toHaveBeenCalled();
  const { operations } = test.app.get(McpMetrics).snapshot();
  expect(operations).toContainEqual(expect.objectContaining({ method: 'tools/call', tool: 'echo' }));
  await test.close();
});
