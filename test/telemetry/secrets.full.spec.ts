import { Injectable, type INestApplication } from '@nestjs/common';
import type { Client } from '@modelcontextprotocol/client';
import {
  Args,
  Completion,
  McpErrorCode,
  McpException,
  Prompt,
  Resource,
  ResourceTemplate,
  Tool,
  Validator,
} from 'nestjs-mcp';
import type { McpClient } from 'nestjs-mcp/client';
import { McpHealthIndicator, McpMetrics, McpTelemetryModule } from 'nestjs-mcp/telemetry';
import { z } from 'zod';
import { startClients } from '../client/fixtures.js';
import { startApp, type TestApp } from '../fixtures/matrix.js';
import { connect, startGateway } from '../gateway/support.js';
import { Lines } from './lines.js';
import { Recorder } from './recorder.js';

const CANARY = 'canary-3f9c1d';
const URI = `vault://ada:${CANARY}@host/key?token=${CANARY}#${CANARY}`;

/** As a database driver has it: its code is a number, and its message holds values. */
const unexpected = (): never => {
  throw Object.assign(new Error(`duplicate key ${CANARY}`), { code: 11_000 });
};

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

  @Tool({ inputSchema: z.object({ region: z.string().meta({ 'x-mcp-header': 'Region' }) }) })
  routed(@Args('region') region: string) {
    return region;
  }

  @Tool()
  refuses(): never {
    throw new McpException(McpErrorCode.Refused, `Not for ${CANARY}`);
  }

  @Prompt({ argsSchema: z.object({ size: z.enum(['S', 'M']) }) })
  sized(@Args('size') size: string) {
    return size;
  }

  @Prompt()
  fails() {
    return unexpected();
  }

  @Completion({ prompt: 'sized', argument: 'size' })
  sizes() {
    return unexpected();
  }

  @ResourceTemplate({ uriTemplate: 'vault://{+path}' })
  vault() {
    return 'opened';
  }

  @Resource({ uri: 'broken://one' })
  broken() {
    return unexpected();
  }

  @Validator({ events: ['tools/call'] })
  looks() {
    return true;
  }

  @Validator({ events: ['tools/call'], mode: 'audit' })
  crashes() {
    return unexpected();
  }
}

const recorder = new Recorder();
beforeEach(() => recorder.reset());
afterAll(() => recorder.close());

const telemetry = { imports: [McpTelemetryModule.forRoot({ callLog: 'log' })] };
const HEADERS = { authorization: `Bearer ${CANARY}`, 'x-key': CANARY };

/** The places where the secret stands, with what is around it. */
const leaksIn = (shown: unknown): string[] =>
  [...JSON.stringify(shown).matchAll(new RegExp(`.{0,80}${CANARY}.{0,20}`, 'g'))].map(([leak]) => leak);

/** Everything that a span tells. */
const spansNow = () =>
  recorder.spans.map(({ name, attributes, events, status, links }) => ({
    name,
    attributes,
    events,
    status,
    links,
  }));

const REQUESTS: readonly ((client: Client | McpClient) => Promise<unknown>)[] = [
  client => client.callTool({ name: 'echo', arguments: { text: CANARY } }),
  client => client.callTool({ name: 'echo', arguments: { text: 1, other: CANARY } }),
  client => client.callTool({ name: 'breaks', arguments: { text: CANARY } }),
  client => client.callTool({ name: 'routed', arguments: { region: CANARY } }),
  client => client.getPrompt({ name: 'sized', arguments: { size: CANARY } }),
  client => client.getPrompt({ name: 'fails' }),
  client =>
    client.complete({
      ref: { type: 'ref/prompt', name: 'sized' },
      argument: { name: 'size', value: CANARY },
    }),
  client => client.complete({ ref: { type: 'ref/resource', uri: URI }, argument: { name: 'a', value: '' } }),
  client => client.readResource({ uri: URI }),
  client => client.readResource({ uri: `none${URI}` }),
  client => client.readResource({ uri: `not a URI ${URI}` }),
  client => client.readResource({ uri: 'broken://one' }),
];

async function sendAll(client: Client | McpClient): Promise<void> {
  for (const send of REQUESTS) await send(client).catch(() => undefined);
}

/** A call whose header does not repeat its argument. */
const sendMismatch = (url: string) =>
  fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': 'routed',
      'mcp-param-region': `${CANARY}-other`,
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: {
        name: 'routed',
        arguments: { region: CANARY },
        _meta: {
          'io.modelcontextprotocol/protocolVersion': '2026-07-28',
          'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '1' },
          'io.modelcontextprotocol/clientCapabilities': {},
        },
      },
    }),
  }).then(answer => answer.text());

describe('with the default options, no secret is shown', () => {
  let test: TestApp;
  const lines = new Lines();
  beforeAll(async () => {
    const configure = (app: INestApplication) => app.useLogger(lines);
    test = await startApp([Tools], { module: telemetry, configure });
  });
  beforeEach(() => void (lines.written.length = 0));
  afterAll(() => test.close());

  it.each(['modern', 'legacy'] as const)('by a server, %s', async era => {
    const client = await test.client({ era, headers: HEADERS });
    await sendAll(client);
    if (era === 'modern') expect(await sendMismatch(await test.url())).toContain('-32020');
    const calls = lines.of('McpCalls');
    expect(calls.length).toBeGreaterThanOrEqual(REQUESTS.length);
    expect(JSON.stringify(calls)).toContain('"reference"');
    const spans = spansNow();
    expect(spans.flatMap(({ events }) => events).map(({ name }) => name)).toContain('nestjs_mcp.interceptor');
    const uris = spans.map(({ attributes }) => attributes['mcp.resource.uri']).filter(Boolean);
    expect(uris).toContain('vault://REDACTED@host/key?REDACTED');
    const health = await test.app.get(McpHealthIndicator).readiness();
    const shown = [spans, await recorder.metrics(), test.app.get(McpMetrics).snapshot(), calls, health];
    expect(leaksIn(shown)).toEqual([]);
  });

  it.each(['modern', 'legacy'] as const)('by a client, %s', async era => {
    const url = `${await test.url()}?key=${CANARY}`;
    const nowhere = { name: 'nowhere', url: `http://127.0.0.1:9/mcp?key=${CANARY}`, era };
    const clients = await startClients(
      [{ name: 'shop', url, era, headers: HEADERS }, nowhere],
      [],
      telemetry,
    );
    clients.app.useLogger(lines);
    await sendAll(clients.client());
    await clients
      .client()
      .callTool({ name: 'refuses' })
      .catch(() => undefined);
    await clients
      .client('nowhere')
      .listTools()
      .catch(() => undefined);
    const spans = recorder.spansOf('CLIENT');
    expect(spans.length).toBeGreaterThanOrEqual(REQUESTS.length);
    const told = spans.map(({ name, attributes, events, status }) => ({ name, attributes, events, status }));
    const logged = [...lines.of('McpClient'), ...lines.of('McpCalls')];
    const shown = [told, clients.app.get(McpMetrics).snapshot(), await recorder.metrics(), logged];
    expect(leaksIn(shown)).toEqual([]);
    await clients.app.close();
  });

  it('by a gateway, of what the server behind it says', async () => {
    const gateway = await startGateway({ backend: { url: await test.url() } }, [], 0, telemetry.imports);
    const client = await connect(gateway.url, 'modern');
    recorder.reset();
    const refusal = client.callTool({ name: 'refuses' });
    await expect(refusal).rejects.toThrow(/^Internal error \(reference [\w-]+\)$/);
    const statuses = recorder.spans
      .filter(({ attributes }) => attributes['nestjs_mcp.name'] === 'gateway')
      .map(({ status }) => status.message);
    expect(statuses).toEqual([undefined, undefined]);
    await client.close();
    await gateway.app.close();
  });
});

it('the status of a server span has the message that the application wrote for its caller', async () => {
  const test = await startApp([Tools], { module: telemetry });
  const client = await test.client();
  await client.callTool({ name: 'refuses' }).catch(() => undefined);
  expect(recorder.span('SERVER', 'tools/call refuses').status.message).toBe(`Not for ${CANARY}`);
  await test.close();
});
