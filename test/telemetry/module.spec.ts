import { McpTelemetryModule } from 'nestjs-mcp/telemetry';
import { startApp } from '../fixtures/matrix.js';
import { Handlers } from './handlers.js';

it('is refused at start if it is imported twice', async () => {
  const imports = [McpTelemetryModule.forRoot(), McpTelemetryModule.forRoot({ callLog: 'log' })];
  await expect(startApp([Handlers], { module: { imports } })).rejects.toThrow(
    'McpTelemetryModule: it is imported twice',
  );
});

it('may be imported by several modules if they import the same one', async () => {
  const telemetry = McpTelemetryModule.forRoot();
  const test = await startApp([Handlers], {
    module: { imports: [telemetry, { module: class {}, imports: [telemetry] }] },
  });
  await test.close();
});
