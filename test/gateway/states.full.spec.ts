import { Module, type MiddlewareConsumer, type NestModule } from '@nestjs/common';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { NextFunction, Request, Response } from 'express';
import { McpGatewayModule, type McpGatewayOptions } from 'nestjs-mcp/gateway';
import { fakeBackend, type FakeBackend, type FakeCall } from './fake-backend.js';
import { listen, outcomeOf, type Running } from './support.js';

const INVALID = { code: -32602, message: 'Invalid or expired requestState' };
const SECRET = 'a secret of the gateways, of 32 bytes';
const STATE = 'a state of the backend';
const ANY = {
  '~standard': { version: 1, vendor: 'test', validate: (value: unknown) => ({ value }) },
} as const;

/** A gateway whose callers are told apart by a header. */
function start(options: McpGatewayOptions): Promise<Running> {
  @Module({ imports: [McpGatewayModule.forRoot(options)] })
  class GatewayModule implements NestModule {
    configure(consumer: MiddlewareConsumer): void {
      consumer
        .apply((request: Request & { user?: object }, _response: Response, next: NextFunction) => {
          request.user = { id: request.headers['x-user'] };
          next();
        })
        .forRoutes('*path');
    }
  }
  return listen(GatewayModule);
}

describe('the requestState of a call through a gateway', () => {
  let backend: FakeBackend;
  let states: unknown[];
  let open: (() => Promise<unknown>)[];

  beforeEach(async () => {
    states = [];
    open = [];
    backend = await fakeBackend({
      'tools/list': ({ reply }) =>
        reply({ tools: ['t', 'other'].map(name => ({ name, inputSchema: { type: 'object' } })) }),
      'tools/call': ({ params, reply }: FakeCall) => {
        states.push(params['requestState']);
        if (params['requestState'] === STATE)
          return reply({ content: [], structuredContent: { done: true } });
        reply({ resultType: 'input_required', requestState: STATE });
      },
    });
  });
  afterEach(async () => {
    for (const close of open.reverse()) await close();
    backend.close();
  });

  async function gatewayOf(options: Partial<McpGatewayOptions> = {}): Promise<string> {
    const { app, url } = await start({ backend: { url: backend.url }, ...options });
    open.push(() => app.close());
    return url;
  }
  async function callerOf(url: string, user: string) {
    const client = new Client(
      { name: 'test', version: '1' },
      { versionNegotiation: { mode: { pin: '2026-07-28' } } },
    );
    const headers = { 'x-user': user };
    await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
    open.push(() => client.close());
    const call = (params: object) =>
      client.request({ method: 'tools/call', params: { name: 't', ...params } }, ANY, {
        allowInputRequired: true,
      }) as Promise<Record<string, unknown>>;
    return call;
  }

  it('is good for whose call it is, and reaches the backend as it was', async () => {
    const alice = await callerOf(await gatewayOf(), 'alice');
    const { requestState } = await alice({});
    expect(await alice({ requestState })).toMatchObject({ structuredContent: { done: true } });
    expect(states).toEqual([undefined, STATE]);
  });

  it.each([
    ['another caller', 'bob', {}],
    ['other arguments', 'alice', { arguments: { amount: 2 } }],
    ['another tool', 'alice', { name: 'other' }],
  ])('is refused for %s, and the backend is not asked', async (_, user, other) => {
    const url = await gatewayOf();
    const { requestState } = await (await callerOf(url, 'alice'))({ arguments: { amount: 1 } });
    const again = { arguments: { amount: 1 }, ...other, requestState };
    expect(await outcomeOf((await callerOf(url, user))(again))).toMatchObject(INVALID);
    expect(states).toHaveLength(1);
  });

  it('is refused for another backend', async () => {
    const { url } = backend;
    const alice = await callerOf(
      await gatewayOf({ backend: undefined, backends: { a: { url }, b: { url } } }),
      'alice',
    );
    const { requestState } = await alice({ name: 'a_t' });
    expect(await outcomeOf(alice({ name: 'b_t', requestState }))).toMatchObject(INVALID);
    expect(await alice({ name: 'a_t', requestState })).toMatchObject({ structuredContent: { done: true } });
  });

  it('is refused if the backend alone has made it', async () => {
    const alice = await callerOf(await gatewayOf(), 'alice');
    expect(await outcomeOf(alice({ requestState: STATE }))).toMatchObject(INVALID);
    expect(states).toEqual([]);
  });

  it('is good on another node with the same secret, and on no other', async () => {
    const [one, two, other] = await Promise.all([
      gatewayOf({ mrtr: { secret: SECRET } }),
      gatewayOf({ mrtr: { secrets: [`${SECRET}, a newer one`, SECRET] } }),
      gatewayOf(),
    ]);
    const { requestState } = await (await callerOf(one, 'alice'))({});
    expect(await outcomeOf((await callerOf(other, 'alice'))({ requestState }))).toMatchObject(INVALID);
    expect(await (await callerOf(two, 'alice'))({ requestState })).toMatchObject({
      structuredContent: { done: true },
    });
  });

  it.each([
    [{ secret: 'short' }, '"mrtr.secret" must be a secret of at least 32 bytes'],
    [{ ttlSeconds: 5 }, 'unknown option "mrtr.ttlSeconds"; known are secret, secrets'],
  ])('does not start with %j', (mrtr, problem) => {
    expect(() => McpGatewayModule.forRoot({ backend: { url: backend.url }, mrtr: mrtr as object })).toThrow(
      problem,
    );
  });
});
