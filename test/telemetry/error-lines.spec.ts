import { Injectable } from '@nestjs/common';
import { Prompt, Tool } from 'nestjs-mcp';
import { McpTelemetryModule } from 'nestjs-mcp/telemetry';
import { LogSpy } from '../fixtures/log-spy.js';
import { startApp } from '../fixtures/matrix.js';
import { Recorder } from './recorder.js';

const recorder = new Recorder();
afterAll(() => recorder.close());

@Injectable()
class Handlers {
  @Tool()
  breaks() {
    throw new Error('broken');
  }

  @Prompt()
  fails() {
    throw new Error('broken');
  }
}

const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736';
const traceparent = `00-${TRACE_ID}-00f067aa0ba902b7-01`;

async function lineOf(options: { isObserved: boolean; traceparent?: string }, kind: 'tool' | 'prompt') {
  const log = new LogSpy();
  const imports = options.isObserved ? [McpTelemetryModule.forRoot()] : [];
  const test = await startApp([Handlers], { module: { imports }, configure: app => app.useLogger(log) });
  const client = await test.client();
  const _meta = options.traceparent === undefined ? undefined : { traceparent: options.traceparent };
  recorder.reset();
  if (kind === 'tool') await client.callTool({ name: 'breaks', _meta });
  else await expect(client.getPrompt({ name: 'fails', _meta })).rejects.toThrow('Internal error');
  const [line] = log.errors;
  await test.close();
  return line;
}

describe.each(['tool', 'prompt'] as const)('the log line of a %s that fails', kind => {
  it('has the trace id of its span', async () => {
    const line = await lineOf({ isObserved: true }, kind);
    const [{ traceId }] = recorder.spansOf('SERVER').map(span => span.spanContext());
    expect(line).toMatch(new RegExp(`failed \\(reference [\\da-f-]{36}, trace ${traceId}\\)`));
  });

  it('has the trace id that the caller sent, without telemetry', async () => {
    expect(await lineOf({ isObserved: false, traceparent }, kind)).toContain(`, trace ${TRACE_ID})`);
  });

  it.each([undefined, 'my\ntrace'])('has none for the traceparent %j', async sent => {
    expect(await lineOf({ isObserved: false, traceparent: sent }, kind)).toMatch(
      /failed \(reference [\da-f-]{36}\)/,
    );
  });
});
