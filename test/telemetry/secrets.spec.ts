import { Injectable, type INestApplication } from '@nestjs/common';
import { Args, Tool, Validator } from 'nestjs-mcp';
import { McpHealthIndicator, McpMetrics, McpTelemetryModule } from 'nestjs-mcp/telemetry';
import { startApp } from '../fixtures/matrix.js';
import { Recorder } from './recorder.js';

const CANARY = 'canary-3f9c1d';

@Injectable()
class Tools {
  @Tool()
  echo(@Args('text') text: string) {
    return text;
  }

  @Tool()
  breaks(@Args('text') text: string): never {
    throw new Error(`unexpected ${text}`);
  }

  @Validator({ events: ['tools/call'] })
  looks() {
    return true;
  }
}

class Lines {
  readonly written: unknown[] = [];
  readonly log = (...line: unknown[]) => void this.written.push(line);
  readonly warn = this.log;
  readonly error = () => undefined;
}

const recorder = new Recorder();
afterAll(() => recorder.close());

describe('with the default options', () => {
  it('no secret is in a span, a metric, a line of the call log or a health answer', async () => {
    const lines = new Lines();
    const module = { imports: [McpTelemetryModule.forRoot({ callLog: 'log' })] };
    const configure = (app: INestApplication) => app.useLogger(lines);
    const test = await startApp([Tools], { module, configure });
    const headers = { authorization: `Bearer ${CANARY}`, 'x-key': CANARY };
    for (const era of ['modern', 'legacy'] as const) {
      const client = await test.client({ era, headers });
      await client.callTool({ name: 'echo', arguments: { text: CANARY } });
      await client.callTool({ name: 'breaks', arguments: { text: CANARY } });
      await client.callTool({ name: 'echo', arguments: { text: 1, other: CANARY } }).catch(() => undefined);
    }
    const health = await test.app.get(McpHealthIndicator).readiness();
    const spans = recorder.spans.map(({ name, attributes, events, status, links }) => ({
      name,
      attributes,
      events,
      status,
      links,
    }));
    const calls = lines.written.filter(line => JSON.stringify(line).includes('McpCalls'));
    expect(calls.length).toBeGreaterThanOrEqual(6);
    expect(JSON.stringify(calls)).toContain('"reference"');
    expect(spans.flatMap(({ events }) => events).map(({ name }) => name)).toContain('nestjs_mcp.interceptor');
    const shown = [spans, await recorder.metrics(), test.app.get(McpMetrics).snapshot(), calls, health];
    expect(JSON.stringify(shown)).not.toContain(CANARY);
    await test.close();
  });
});
