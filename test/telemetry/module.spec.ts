import type { INestApplication } from '@nestjs/common';
import { McpTelemetryModule } from 'nestjs-mcp/telemetry';
import { startApp } from '../fixtures/matrix.js';
import { Handlers } from './handlers.js';
import { Lines } from './lines.js';

const LEVEL = { provide: 'level', useValue: 'debug' } as const;

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

it('takes its options from a factory', async () => {
  const lines = new Lines();
  const imports = [
    McpTelemetryModule.forRootAsync({
      imports: [{ module: class Config {}, providers: [LEVEL], exports: [LEVEL.provide] }],
      inject: [LEVEL.provide],
      useFactory: (callLog: 'debug') => Promise.resolve({ callLog }),
    }),
  ];
  const configure = (app: INestApplication) => app.useLogger(lines);
  const write = jest.spyOn(lines, 'debug');
  const test = await startApp([Handlers], { module: { imports }, configure });
  await (await test.client()).listTools();
  expect(write.mock.calls.filter(line => line.at(-1) === 'McpCalls').length).toBeGreaterThan(0);
  await test.close();
});

it('refuses wrong options of a factory at start', async () => {
  const imports = [McpTelemetryModule.forRootAsync({ useFactory: () => ({ callLog: 'loud' }) as never })];
  await expect(startApp([Handlers], { module: { imports } })).rejects.toThrow('McpTelemetryModule: ');
});
