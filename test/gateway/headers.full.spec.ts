import { Injectable } from '@nestjs/common';
import type { Client } from '@modelcontextprotocol/client';
import { Mutator, type InterceptorInvocation } from 'nestjs-mcp';
import { regional, startHeaderServer, type HeaderServer } from '../fixtures/header-server.js';
import { call, ENVELOPE, send, STANDARD } from '../headers/support.js';
import { fakeBackend } from './fake-backend.js';
import { connect, ERAS, startGateway, type Running } from './support.js';

/** Sends regions elsewhere. */
@Injectable()
class Moves {
  @Mutator({ events: ['tools/call'], phase: 'request' })
  move({ payload }: InterceptorInvocation<'tools/call', 'request'>) {
    const { arguments: args } = payload;
    const region = args?.['region'];
    if (region === 'to us') return { ...payload, arguments: { ...args, region: 'us' } };
    if (region === 'to nowhere') return { ...payload, arguments: {} };
    return undefined;
  }
}

let backend: HeaderServer;
let gateway: Running;
let client: Client;

beforeEach(async () => {
  backend = await startHeaderServer([regional(), regional('Zone', 'zoned')]);
  backend.checked = backend.tools;
});
afterEach(async () => {
  await client?.close();
  await gateway?.app.close();
  await backend.close();
});

/** Calls a tool, and tells which headers reached the backend. */
async function sent(region: string, name = 'regional'): Promise<Record<string, string>> {
  await client.callTool({ name, arguments: { region } });
  const { 'mcp-protocol-version': version, 'mcp-method': method, ...headers } = backend.calls.at(-1)!.headers;
  expect([version, method]).toEqual(['2026-07-28', 'tools/call']);
  return headers;
}

describe.each(ERAS)('a gateway, for a client of the %s era,', era => {
  beforeEach(async () => {
    gateway = await startGateway({ backend: { url: backend.url } }, [Moves]);
    client = await connect(gateway.url, era);
    await client.listTools();
  });

  it('sends the headers of what it forwards, after the interceptors', async () => {
    expect(await sent('eu')).toEqual({ 'mcp-name': 'regional', 'mcp-param-region': 'eu' });
    expect(await sent('to us')).toEqual({ 'mcp-name': 'regional', 'mcp-param-region': 'us' });
    expect(await sent('eu', 'zoned')).toEqual({ 'mcp-name': 'zoned', 'mcp-param-zone': 'eu' });
    expect(await sent('to nowhere')).toEqual({ 'mcp-name': 'regional' });
  });

  it('encodes them as the specification says', async () => {
    expect(await sent('')).toMatchObject({ 'mcp-param-region': '' });
    expect(await sent('a\tb')).toMatchObject({ 'mcp-param-region': '=?base64?YQli?=' });
  });
});

describe('a gateway', () => {
  it('names the tool as its backend does, where there are several', async () => {
    gateway = await startGateway({ backends: { near: { url: backend.url } } }, [Moves]);
    client = await connect(gateway.url, 'modern');
    await client.listTools();
    expect(await sent('to us', 'near_regional')).toEqual({
      'mcp-name': 'regional',
      'mcp-param-region': 'us',
    });
  });

  it('sends headers to a backend whose tool has changed unnoticed', async () => {
    gateway = await startGateway({ backend: { url: backend.url } });
    client = await connect(gateway.url, 'legacy');
    await client.listTools();
    backend.checked = backend.tools = [regional('Zone')];
    expect(await sent('eu')).toEqual({ 'mcp-name': 'regional', 'mcp-param-zone': 'eu' });
  });

  it('checks the headers of what a client was shown last', async () => {
    gateway = await startGateway({ backend: { url: backend.url } });
    client = await connect(gateway.url, 'modern');
    await client.listTools();
    await sent('eu');
    backend.checked = backend.tools = [regional('Zone')];
    await client.listTools();
    expect(await sent('eu')).toEqual({ 'mcp-name': 'regional', 'mcp-param-zone': 'eu' });
    const headers = { ...STANDARD, 'Mcp-Name': 'regional', 'Mcp-Param-Region': 'eu' };
    const spoofed = { ...headers, 'Mcp-Param-Zone': 'us' };
    expect(await send(gateway.url, call({ region: 'eu' }, 'regional'), spoofed)).toMatchObject({
      status: 400,
      code: -32020,
    });
  });

  it('sends a call once more where the definition that it knew was too old, however young', async () => {
    gateway = await startGateway({ backend: { url: backend.url } });
    client = await connect(gateway.url, 'legacy');
    await sent('eu');
    backend.checked = backend.tools = [regional('Zone')];
    expect(await sent('eu')).toEqual({ 'mcp-name': 'regional', 'mcp-param-zone': 'eu' });
  });

  it('sends a call only once where the definition is what it was', async () => {
    gateway = await startGateway({ backend: { url: backend.url } });
    client = await connect(gateway.url, 'legacy');
    backend.checked = [regional('Zone')];
    await expect(client.callTool({ name: 'regional', arguments: { region: 'eu' } })).rejects.toMatchObject({
      code: -32020,
    });
    expect(backend.attempts).toBe(1);
  });

  it('checks the headers of its own client, and forwards nothing that differs', async () => {
    gateway = await startGateway({ backend: { url: backend.url } }, [Moves]);
    const headers = { ...STANDARD, 'Mcp-Name': 'regional' };
    const spoofed = await send(gateway.url, call({ region: 'to us' }, 'regional'), {
      ...headers,
      'Mcp-Param-Region': 'us',
    });
    expect(spoofed).toMatchObject({ status: 400, code: -32020 });
    expect(backend.attempts).toBe(0);
    const honest = await send(gateway.url, call({ region: 'to us' }, 'regional'), {
      ...headers,
      'Mcp-Param-Region': 'to us',
    });
    expect(honest).toMatchObject({ status: 200 });
    expect(backend.calls.at(-1)).toMatchObject({
      headers: { 'mcp-param-region': 'us' },
      args: { region: 'us' },
    });
  });

  it('forwards what needs no headers to a backend that cannot list its tools', async () => {
    backend.checked = [];
    gateway = await startGateway({ backend: { url: backend.url } });
    backend.tools = null as never;
    const headers = { ...STANDARD, 'Mcp-Name': 'regional' };
    expect(await send(gateway.url, call({ size: 1 }, 'regional'), headers)).toMatchObject({ status: 200 });
    expect(backend.calls.at(-1)).toMatchObject({ args: { size: 1 } });
    const named = await send(gateway.url, call({ region: 'eu' }, 'regional'), {
      ...headers,
      'Mcp-Param-Region': 'eu',
    });
    expect(named).toMatchObject({ code: -32603 });
    expect(backend.calls).toHaveLength(1);
  });

  it('does not forward headers that its client made up', async () => {
    gateway = await startGateway({ backend: { url: backend.url } });
    await send(gateway.url, call({ region: 'eu' }, 'regional'), {
      ...STANDARD,
      'Mcp-Name': 'regional',
      'Mcp-Param-Region': 'eu',
      'Mcp-Param-Tenant': 'somebody',
    });
    expect(backend.calls.at(-1)!.headers).not.toHaveProperty('mcp-param-tenant');
  });
});

it.each(['backend', 'backends'])('no header of the protocol is configured (%s)', option => {
  const one = { url: backend.url, headers: { 'Mcp-Name': 'x' } };
  const options = option === 'backend' ? { backend: one } : { backends: { near: one } };
  expect(() => startGateway(options)).toThrow(
    option === 'backend'
      ? 'McpGatewayModule.forRoot({ name: "gateway" }), "backend": "headers" must not have "Mcp-Name"'
      : 'McpGatewayModule.forRoot({ name: "gateway" }), "backends.near": "headers" must not have "Mcp-Name"',
  );
});

describe('a tool that a backend defines for each caller differently', () => {
  const CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities';
  const asksForms = (params: Record<string, unknown>) =>
    'elicitation' in (params['_meta'] as Record<string, object>)[CAPABILITIES];

  it('has the headers that its caller is shown', async () => {
    const varied = await fakeBackend({
      'tools/list': ({ params, reply }) =>
        reply({ tools: [regional(asksForms(params) ? 'Region' : 'Zone')] }),
      'tools/call': ({ reply }) => reply({ content: [] }),
    });
    gateway = await startGateway({ backend: { url: varied.url } });
    const callBy = (capabilities: object, header: string) =>
      send(
        gateway.url,
        {
          method: 'tools/call',
          params: {
            name: 'regional',
            arguments: { region: 'eu' },
            _meta: { ...ENVELOPE, [CAPABILITIES]: capabilities },
          },
        },
        { ...STANDARD, 'Mcp-Name': 'regional', [`Mcp-Param-${header}`]: 'eu' },
      );
    for (let round = 0; round < 2; round += 1) {
      expect(await callBy({ elicitation: { form: {} } }, 'Region')).toMatchObject({ status: 200 });
      expect(await callBy({}, 'Zone')).toMatchObject({ status: 200 });
    }
    expect(await callBy({}, 'Region')).toMatchObject({ status: 400, code: -32020 });
    varied.close();
  });

  it('is refused with HTTP 400, whatever a backend tells of the list that nobody asked for', async () => {
    const telling = await fakeBackend({
      'tools/list': ({ id, params, send: tell }) => {
        const { progressToken = 'none' } = params['_meta'] as { progressToken?: unknown };
        tell(
          {
            jsonrpc: '2.0',
            method: 'notifications/progress',
            params: { progressToken, progress: 1, message: 'made up' },
          },
          {
            jsonrpc: '2.0',
            id,
            result: { tools: [regional()], resultType: 'complete', ttlMs: 0, cacheScope: 'private' },
          },
        );
      },
    });
    gateway = await startGateway({ backend: { url: telling.url } });
    const _meta = { ...ENVELOPE, progressToken: 'mine' };
    const message = {
      method: 'tools/call',
      params: { name: 'regional', arguments: { region: 'eu' }, _meta },
    };
    const headers = { ...STANDARD, 'Mcp-Name': 'regional', 'Mcp-Param-Region': 'us' };
    expect(await send(gateway.url, message, headers)).toMatchObject({ status: 400, code: -32020 });
    telling.close();
  });

  it('may be defined by the name of a client that lists it before it calls', async () => {
    const INFO = 'io.modelcontextprotocol/clientInfo';
    const varied = await fakeBackend({
      'tools/list': ({ params, reply }) => {
        const { name } = (params['_meta'] as Record<string, { name: string }>)[INFO];
        reply({ tools: [regional(name)] });
      },
      'tools/call': ({ reply }) => reply({ content: [] }),
    });
    gateway = await startGateway({ backend: { url: varied.url } });
    for (const name of ['Region', 'Zone']) {
      const _meta = { ...ENVELOPE, [INFO]: { name, version: '1' } };
      const list = { ...STANDARD, 'Mcp-Method': 'tools/list' };
      await send(gateway.url, { method: 'tools/list', params: { _meta } }, list);
      const message = {
        method: 'tools/call',
        params: { name: 'regional', arguments: { region: 'eu' }, _meta },
      };
      const headers = { ...STANDARD, 'Mcp-Name': 'regional', [`Mcp-Param-${name}`]: 'eu' };
      expect(await send(gateway.url, message, headers)).toMatchObject({ status: 200 });
    }
    varied.close();
  });

  it('has the output that its caller is shown, in the 2025 era', async () => {
    const varied = await fakeBackend({
      'tools/list': ({ params, reply }) => {
        const outputSchema = asksForms(params) ? { oneOf: [{ type: 'object' }] } : { type: 'object' };
        reply({ tools: [{ name: 't', inputSchema: { type: 'object' }, outputSchema }] });
      },
      'tools/call': ({ reply }) => reply({ content: [], structuredContent: { a: 1 } }),
    });
    gateway = await startGateway({ backend: { url: varied.url } });
    const forms = await connect(gateway.url, 'legacy', { capabilities: { elicitation: { form: {} } } });
    client = await connect(gateway.url, 'legacy');
    for (let round = 0; round < 2; round += 1) {
      expect(await forms.callTool({ name: 't' })).toMatchObject({ structuredContent: { result: { a: 1 } } });
      expect((await client.callTool({ name: 't' })).structuredContent).toEqual({ a: 1 });
    }
    await forms.close();
    varied.close();
  });
});
