// A server over stdio, which writes its spans to the file SPANS: `node -r ts-hook.cjs stdio-app.ts`.
import 'reflect-metadata';
import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { McpModule, Tool } from 'nestjs-mcp';
import { McpMetrics, McpTelemetryModule } from 'nestjs-mcp/telemetry';
import { Handlers, Looks } from './handlers.js';
import { writeSpans } from './span-file.js';

@Injectable()
class Numbers {
  constructor(private readonly metrics: McpMetrics) {}

  /** How many calls run, this one among them. */
  @Tool()
  running() {
    return String(this.metrics.snapshot().servers['test'].open['calls']);
  }
}

@Module({
  imports: [
    McpModule.forRoot({
      name: 'test',
      version: '1.0.0',
      stdio: true,
      http: false,
      interceptors: { expose: true, apply: false },
    }),
    McpTelemetryModule.forRoot(),
  ],
  providers: [Handlers, Looks, Numbers],
})
class AppModule {}

writeSpans(process.env['SPANS'] ?? '', 'test');
void NestFactory.createApplicationContext(AppModule, { logger: false });
