import { Injectable, type INestApplication, type Type } from '@nestjs/common';
import type { Client } from '@modelcontextprotocol/client';
import { context, propagation, SpanKind, trace } from '@opentelemetry/api';
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base';
import { Tool, Validator } from 'nestjs-mcp';
import { McpTelemetryModule } from 'nestjs-mcp/telemetry';
import { deferred } from '../fixtures/deferred.js';
import { modern, sendAs } from '../fixtures/limits.js';
import { platforms, startApp, type TestApp, type TestAppOptions } from '../fixtures/matrix.js';
import { Handlers } from './handlers.js';
import { Recorder } from './recorder.js';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const SPAN = 'b7ad6b7169203331';
const TRACEPARENT = `00-${TRACE}-${SPAN}-01`;
const ERAS = ['modern', 'legacy'] as const;

const onElicit = () => ({ action: 'accept' as const, content: {} });

/** The ids of the spans of POST requests. */
const posts: string[] = [];

/** As OpenTelemetry's instrumentation of HTTP makes it. */
function addHttpSpans(app: INestApplication): void {
  app.use(({ method }: { method: string }, _response: unknown, next: () => void) => {
    const span = trace.getTracer('http').startSpan(method, { kind: SpanKind.SERVER });
    if (method === 'POST') posts.push(span.spanContext().spanId);
    context.with(trace.setSpan(context.active(), span), next);
    span.end();
  });
}

@Injectable()
class Aware {
  @Tool()
  baggage() {
    const entries = propagation.getBaggage(context.active())?.getAllEntries() ?? [];
    return entries.map(([, { value }]) => value).join(', ') || 'none';
  }

  @Validator({ name: 'looks', events: ['tools/call'] })
  looks() {
    trace.getTracer('app').startSpan('looking').end();
    return true;
  }
}

@Injectable()
class Policy {
  @Validator({ name: 'policy', events: ['tools/call'] })
  policy() {
    return true;
  }
}

const idOf = (span: ReadableSpan) => span.spanContext().spanId;
const parentOf = (span: ReadableSpan) => span.parentSpanContext?.spanId;

const recorder = new Recorder();
let test: TestApp;
afterEach(() => test.close());
afterAll(() => recorder.close());

async function start(options: TestAppOptions = {}, telemetry = {}, more: Type[] = []): Promise<void> {
  const module = { imports: [McpTelemetryModule.forRoot(telemetry)] };
  test = await startApp([Handlers, Aware, ...more], { ...options, module });
}

async function clientOf(era: 'modern' | 'legacy' = 'modern'): Promise<Client> {
  const client = await test.client({ era, onElicit });
  recorder.reset();
  posts.length = 0;
  return client;
}

describe.each(platforms())('behind an HTTP span, on %s', platform => {
  beforeEach(() => start({ platform, configure: addHttpSpans }));

  it.each(ERAS)(
    'the span of a %s message with a trace is the parent, and the HTTP span a link',
    async era => {
      const client = await clientOf(era);
      await client.callTool({ name: 'echo', arguments: { text: 'a' }, _meta: { traceparent: TRACEPARENT } });
      const span = recorder.span('SERVER', 'tools/call echo');
      expect(parentOf(span)).toBe(SPAN);
      const https = recorder.spansOf('SERVER', 'POST').map(idOf);
      expect(span.links.map(({ context: { spanId } }) => spanId)).toEqual(https);
      expect(https).toHaveLength(1);
    },
  );

  it.each(ERAS)('a %s message without a trace has the HTTP span for its parent', async era => {
    const client = await clientOf(era);
    await client.callTool({ name: 'echo', arguments: { text: 'a' } });
    const span = recorder.span('SERVER', 'tools/call echo');
    expect([parentOf(span)]).toEqual(posts);
    expect(span.links).toEqual([]);
  });
});

it.each<readonly [what: string, traceparent: unknown]>([
  ['an empty text', ''],
  ['another text', 'none'],
  ['a number', 1],
  ['an object', { traceId: TRACE }],
  ['a trace of zeros', `00-${'0'.repeat(32)}-${SPAN}-01`],
  ['a span of zeros', `00-${TRACE}-${'0'.repeat(16)}-01`],
  ['the version that is not allowed', `ff-${TRACE}-${SPAN}-01`],
  ['a text without end', `${TRACEPARENT}-${'0'.repeat(9000)}`],
])('begins a new trace if "traceparent" is %s', async (_, traceparent) => {
  await start();
  const client = await clientOf();
  await client.callTool({ name: 'echo', arguments: { text: 'a' }, _meta: { traceparent } });
  const span = recorder.span('SERVER', 'tools/call echo');
  expect(parentOf(span)).toBeUndefined();
  expect(span.spanContext().traceId).not.toBe(TRACE);
});

it('gives handlers the baggage of the message, and the state of its trace', async () => {
  await start();
  const client = await clientOf();
  const _meta = { traceparent: TRACEPARENT, tracestate: 'vendor=1', baggage: 'tenant=acme' };
  const { content } = await client.callTool({ name: 'baggage', _meta });
  expect(content).toEqual([{ type: 'text', text: 'acme' }]);
  expect(recorder.span('SERVER', 'tools/call baggage').spanContext().traceState?.get('vendor')).toBe('1');
});

it('keeps the baggage of the application against that of the message', async () => {
  const inTenant = (app: INestApplication) =>
    app.use((_request: object, _response: object, next: () => void) => {
      const baggage = propagation.createBaggage({ tenant: { value: 'trusted' } });
      context.with(propagation.setBaggage(context.active(), baggage), next);
    });
  await start({ configure: inTenant });
  const client = await clientOf();
  const { content } = await client.callTool({
    name: 'baggage',
    _meta: { baggage: 'tenant=forged,team=red' },
  });
  expect(content).toEqual([
    { type: 'text', text: expect.stringMatching(/^(trusted, red|red, trusted)$/) as string },
  ]);
});

it('shows at most 1,000 characters of the id of a request', async () => {
  await start();
  recorder.reset();
  const { headers, body } = modern('tools/call', { name: 'echo', arguments: { text: 'a' } });
  const id = 'x'.repeat(100_000);
  await (await sendAs(test, undefined, { headers, body: { ...body, id } })).text();
  const { attributes } = recorder.span('SERVER', 'tools/call echo');
  expect(attributes['jsonrpc.request.id']).toBe('x'.repeat(1000));
});

it('ignores baggage of more than 8,192 characters', async () => {
  await start();
  const client = await clientOf();
  const { content } = await client.callTool({
    name: 'baggage',
    _meta: { baggage: `tenant=${'x'.repeat(8192)}` },
  });
  expect(content).toEqual([{ type: 'text', text: 'none' }]);
});

describe('spans of a handler that asks', () => {
  beforeEach(() => start());
  const handlerSpans = () => recorder.spansOf('INTERNAL').filter(({ name }) => name !== 'looking');

  it('are children of the one span of a 2025 call, and so are its questions', async () => {
    const client = await clientOf('legacy');
    await client.callTool({ name: 'asks', _meta: { traceparent: TRACEPARENT } });
    const call = recorder.span('SERVER', 'tools/call asks');
    const own = handlerSpans().map(span => [span.name, parentOf(span)]);
    expect(own).toEqual(['before', 'between', 'after'].map(name => [name, idOf(call)]));
    const questions = recorder.spansOf('CLIENT', 'elicitation/create');
    expect(questions.map(parentOf)).toEqual([idOf(call), idOf(call)]);
    expect(new Set(recorder.spans.map(span => span.spanContext().traceId))).toEqual(new Set([TRACE]));
  });

  it('are children of the span of their round in a 2026 call', async () => {
    const client = await clientOf('modern');
    await client.callTool({ name: 'asks' });
    const rounds = recorder.spansOf('SERVER', 'tools/call asks').map(idOf);
    const own = handlerSpans().map(span => [span.name, rounds.indexOf(parentOf(span)!)]);
    expect(own).toEqual([
      ['before', 0],
      ['before', 1],
      ['between', 1],
      ['before', 2],
      ['between', 2],
      ['after', 2],
    ]);
  });

  it.each(ERAS)('are children of the call if it throws its question, %s', async era => {
    const client = await clientOf(era);
    await client.callTool({ name: 'throwsQuestion' });
    const calls = recorder.spansOf('SERVER', 'tools/call throwsQuestion').map(idOf);
    const parents = recorder.spansOf('INTERNAL', 'round').map(span => calls.indexOf(parentOf(span)!));
    expect(parents).toEqual(era === 'modern' ? [0, 1] : [0, 0]);
    const links = recorder.spansOf('SERVER', 'tools/call throwsQuestion').map(span => span.links.length);
    expect(links).toEqual(era === 'modern' ? [0, 1] : [0]);
  });

  it('have questions with the attributes of the conventions', async () => {
    const client = await clientOf('legacy');
    await client.callTool({ name: 'asks' });
    const [{ attributes, kind }] = recorder.spansOf('CLIENT', 'elicitation/create');
    expect(kind).toBe(SpanKind.CLIENT);
    expect(attributes).toMatchObject({
      'mcp.method.name': 'elicitation/create',
      'mcp.protocol.version': '2025-11-25',
      'mcp.session.id': expect.stringMatching(/^[\da-f]{32}$/) as string,
      'network.transport': 'tcp',
      'network.protocol.name': 'http',
    });
  });
});

it.each<readonly [parts: ('trace' | 'timestamp')[], keys: string[]]>([
  [['trace'], ['baggage', 'traceparent']],
  [['timestamp'], []],
])('an interceptor host that is sent %s gets %s', async (context, keys) => {
  const host = await startApp([Policy], {
    mcp: { interceptors: { expose: true, apply: false } },
  });
  const servers = [{ name: 'policy', url: await host.url(), send: { context } }];
  await start({ mcp: { interceptors: { servers } } });
  const client = await clientOf();
  const sent = jest.spyOn(globalThis, 'fetch');
  await client.callTool({
    name: 'echo',
    arguments: { text: 'a' },
    _meta: { traceparent: TRACEPARENT, baggage: 'tenant=acme' },
  });
  const invoked = sent.mock.calls
    .map(
      ([, init]) =>
        JSON.parse(typeof init?.body === 'string' ? init.body : '{}') as {
          method?: string;
          params?: { _meta?: object };
        },
    )
    .filter(({ method }) => method === 'interceptor/invoke');
  sent.mockRestore();
  expect(invoked).toHaveLength(1);
  const names = Object.keys(invoked[0].params?._meta ?? {}).filter(key => /^(trace|baggage)/.test(key));
  expect(names.sort()).toEqual(keys);
  await host.close();
});

describe('interceptors', () => {
  const call = async () => {
    const client = await clientOf();
    await client.callTool({ name: 'echo', arguments: { text: 'a' } });
    return recorder.span('SERVER', 'tools/call echo');
  };

  it('are events of the span', async () => {
    await start();
    const { events } = await call();
    expect(events.map(({ name, attributes }) => ({ name, ...attributes }))).toEqual([
      {
        name: 'nestjs_mcp.interceptor',
        'nestjs_mcp.interceptor.name': 'looks',
        'nestjs_mcp.interceptor.host': 'local',
        'nestjs_mcp.interceptor.event': 'tools/call',
        'nestjs_mcp.interceptor.phase': 'request',
        'nestjs_mcp.interceptor.mode': 'active',
        'nestjs_mcp.interceptor.outcome': 'pass',
        'nestjs_mcp.interceptor.duration': expect.any(Number) as number,
      },
    ]);
    expect(recorder.spansOf('INTERNAL').map(({ name }) => name)).toEqual(['looking', 'own']);
  });

  it('are events of the span while an audit interceptor still runs', async () => {
    const held = deferred();
    @Injectable()
    class Audits {
      @Validator({ name: 'audits', events: ['tools/call'], mode: 'audit', timeoutMs: 30_000 })
      async audits() {
        await held.promise;
        return true;
      }
    }
    await start({}, {}, [Audits]);
    const { events } = await call();
    held.resolve();
    expect(events.map(({ attributes }) => attributes!['nestjs_mcp.interceptor.name'])).toEqual(['looks']);
  });

  it.each([
    ['events', 'nestjs_mcp.interceptor'],
    ['spans', 'interceptor fails'],
  ] as const)('that fail and are passed over say so, as %s', async (interceptors, name) => {
    @Injectable()
    class Fails {
      @Validator({ name: 'fails', events: ['tools/call'], failOpen: true })
      fails() {
        throw new Error('unexpected');
      }
    }
    await start({}, { interceptors }, [Fails]);
    const span = await call();
    const seen = interceptors === 'spans' ? recorder.spansOf('INTERNAL') : span.events;
    const failed = seen.filter(one => one.attributes!['nestjs_mcp.interceptor.name'] === 'fails');
    expect(failed).toHaveLength(1);
    expect(failed[0].name).toBe(name);
    expect(failed[0].attributes).toMatchObject({
      'nestjs_mcp.interceptor.outcome': 'crash',
      'nestjs_mcp.interceptor.failed_open': true,
    });
  });

  it('are child spans by option, around what an interceptor does', async () => {
    await start({}, { interceptors: 'spans' });
    const span = await call();
    const interceptor = recorder.span('INTERNAL', 'interceptor looks');
    expect(span.events).toEqual([]);
    expect(parentOf(interceptor)).toBe(idOf(span));
    expect(parentOf(recorder.span('INTERNAL', 'looking'))).toBe(idOf(interceptor));
    expect(parentOf(recorder.span('INTERNAL', 'own'))).toBe(idOf(span));
    expect(interceptor.attributes['nestjs_mcp.interceptor.outcome']).toBe('pass');
  });

  it('are not shown if the option is false', async () => {
    await start({}, { interceptors: false });
    const { events } = await call();
    expect(events).toEqual([]);
    expect(recorder.spansOf('INTERNAL').map(({ name }) => name)).toEqual(['looking', 'own']);
  });
});
