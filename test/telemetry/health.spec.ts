import { Controller, Get, Injectable, Module, type Type } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { HealthCheck, HealthCheckService, TerminusModule } from '@nestjs/terminus';
import { McpModule, Tool, type McpModuleOptions } from 'nestjs-mcp';
import { McpGatewayModule, type McpGatewayOptions } from 'nestjs-mcp/gateway';
import { McpHealthIndicator, McpTelemetryModule } from 'nestjs-mcp/telemetry';
import { deferred } from '../fixtures/deferred.js';
import { connect, listen, type Running } from '../gateway/support.js';

const NOWHERE = 'http://127.0.0.1:9/mcp';

@Controller()
class Health {
  constructor(
    private readonly health: HealthCheckService,
    private readonly mcp: McpHealthIndicator,
  ) {}

  @Get('live')
  live() {
    return { details: this.mcp.liveness() };
  }

  @Get('ready')
  @HealthCheck()
  ready() {
    return this.health.check([() => this.mcp.readiness('mcp', { timeoutMs: 5000 })]);
  }
}

function start(server: object, providers: Type[] = []): Promise<Running> {
  @Module({
    imports: [server as never, McpTelemetryModule.forRoot(), TerminusModule.forRoot({ logger: false })],
    controllers: [Health],
    providers,
  })
  class HealthModule {}
  return listen(HealthModule);
}

const server = (options: Partial<McpModuleOptions> = {}) =>
  McpModule.forRoot({ name: 'test', version: '1.0.0', ...options });
const gateway = (options: Partial<McpGatewayOptions>) =>
  McpGatewayModule.forRoot({ name: 'gateway', ...options });

/** The status, and what Terminus says of the indicator. */
async function ask({ url }: Running, path: 'live' | 'ready') {
  const response = await fetch(new URL(`/${path}`, url));
  const { details } = (await response.json()) as { details: { mcp: unknown } };
  return { status: response.status, mcp: details.mcp };
}

const host = (url: string, skipWhenUnlisted = false) => ({ name: 'policy', url, skipWhenUnlisted });

let reachable: Running;
beforeAll(async () => {
  reachable = await start(server({ interceptors: { expose: true, apply: false } }));
});
afterAll(() => reachable.app.close());

/** `{up}` stands for the URL of a server that answers. */
const url = (text: string) => (text === '{up}' ? reachable.url : NOWHERE);

describe.each<readonly [what: string, make: () => object, status: number, mcp: object]>([
  ['a server', () => server(), 200, { status: 'up', servers: { test: 'up' } }],
  [
    'a gateway whose backend answers',
    () => gateway({ backend: { url: url('{up}') } }),
    200,
    { status: 'up', servers: { gateway: 'up' }, backends: { gateway: 'up' } },
  ],
  [
    'a gateway whose backend cannot be reached',
    () => gateway({ backend: { url: NOWHERE } }),
    503,
    { status: 'down', servers: { gateway: 'up' }, backends: { gateway: 'down' } },
  ],
  [
    'a gateway with one backend of two',
    () => gateway({ backends: { one: { url: url('{up}') }, two: { url: NOWHERE } } }),
    200,
    { status: 'up', servers: { gateway: 'up' }, backends: { 'gateway/one': 'up', 'gateway/two': 'down' } },
  ],
  [
    'a server whose interceptor host answers',
    () => server({ interceptors: { servers: [host(url('{up}'))] } }),
    200,
    { status: 'up', servers: { test: 'up' }, interceptorHosts: { policy: 'up' } },
  ],
  [
    'a server whose interceptor host cannot be reached',
    () => server({ interceptors: { servers: [host(NOWHERE)] } }),
    503,
    { status: 'down', servers: { test: 'up' }, interceptorHosts: { policy: 'down' } },
  ],
  [
    'a server that does without its interceptor host',
    () => server({ interceptors: { servers: [host(NOWHERE, true)] } }),
    200,
    { status: 'up', servers: { test: 'up' }, interceptorHosts: { policy: 'down' } },
  ],
])('%s', (_, make, status, mcp) => {
  let running: Running;
  beforeAll(async () => {
    running = await start(make());
  });
  afterAll(() => running.app.close());

  it(`answers ${status} to a readiness check of Terminus`, async () => {
    expect(await ask(running, 'ready')).toEqual({ status, mcp });
  });

  it('takes requests, whatever its dependencies do', async () => {
    const indicator = running.app.get(McpHealthIndicator);
    const { status: isUp, ...rest } = (await indicator.readiness('mcp', { dependencies: false })).mcp;
    expect(isUp).toBe('up');
    expect(Object.keys(rest)).toEqual(['servers']);
  });

  it('is alive', async () => {
    expect(await ask(running, 'live')).toEqual({ status: 200, mcp: { status: 'up' } });
  });
});

it('a server is not ready before the application has started, and while it ends its calls', async () => {
  const held = deferred();
  const called = deferred();
  @Injectable()
  class Tools {
    @Tool()
    async waits() {
      called.resolve();
      await held.promise;
      return 'ended';
    }
  }
  @Module({ imports: [server(), McpTelemetryModule.forRoot()], providers: [Tools] })
  class ServerModule {}
  const testing = await Test.createTestingModule({ imports: [ServerModule] }).compile();
  const health = testing.get(McpHealthIndicator);
  const isReady = async () => (await health.readiness()).mcp.status === 'up';
  expect(await isReady()).toBe(false);
  const app = testing.createNestApplication({ logger: false });
  await app.listen(0, '127.0.0.1');
  expect(await isReady()).toBe(true);
  const client = await connect(`${await app.getUrl()}/mcp`, 'modern');
  const waiting = client.callTool({ name: 'waits' });
  await called.promise;
  const closing = app.close();
  while (await isReady()) await new Promise(setImmediate);
  expect(health.liveness()).toEqual({ mcp: { status: 'up' } });
  held.resolve();
  expect((await waiting).content).toEqual([{ type: 'text', text: 'ended' }]);
  await client.close();
  await closing;
});
