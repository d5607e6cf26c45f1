import { McpMetrics, McpTelemetryModule } from 'nestjs-mcp/telemetry';
import { startApp, type TestApp } from '../fixtures/matrix.js';
import { connect, startGateway } from '../gateway/support.js';
import { Handlers } from './handlers.js';
import { Recorder } from './recorder.js';

const recorder = new Recorder();
let test: TestApp;
beforeAll(async () => (test = await startApp([Handlers])));
afterAll(async () => {
  await test.close();
  await recorder.close();
});

const backendIn = async (era: 'modern' | 'legacy') => ({ url: await test.url(), era });

it.each(['modern', 'legacy'] as const)(
  'a gateway before a %s backend names tools and prompts that always fail, and none that a caller invents',
  async era => {
    const backends = { shop: await backendIn(era), other: await backendIn(era) };
    const gateway = await startGateway({ backends }, [], 0, [McpTelemetryModule.forRoot()]);
    const client = await connect(gateway.url, 'modern');
    recorder.reset();
    for (const name of ['shop_broken', 'shop_refused', 'shop_invented', 'invented', 'broken']) {
      await client.callTool({ name }).catch(() => undefined);
    }
    await client.listPrompts();
    await client.getPrompt({ name: 'shop_fails' }).catch(() => undefined);
    await client.getPrompt({ name: 'shop_invented' }).catch(() => undefined);
    const named = gateway.app
      .get(McpMetrics)
      .snapshot()
      .operations.filter(({ method }) => method === 'tools/call' || method === 'prompts/get')
      .map(({ side, name, tool, prompt }) => [side, name, tool ?? prompt]);
    expect(named).toEqual(
      expect.arrayContaining([
        ['server', 'gateway', 'shop_broken'],
        ['server', 'gateway', 'shop_refused'],
        ['server', 'gateway', 'shop_fails'],
        ['client', 'gateway/shop', 'broken'],
        ['client', 'gateway/shop', 'refused'],
        ['client', 'gateway/shop', 'fails'],
      ]),
    );
    expect(named.filter(([, , target]) => target === 'broken' || target?.includes('invented'))).toEqual([
      ['client', 'gateway/shop', 'broken'],
    ]);
    // Only the server of a tool decides what its messages may say.
    expect(recorder.span('SERVER', 'tools/call shop_refused').status.message).toBeUndefined();
    await client.close();
    await gateway.app.close();
  },
);
