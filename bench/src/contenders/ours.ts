// This package, with what a workload asks for.
import 'reflect-metadata';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Body, Controller, Module, Post, UseGuards, ValidationPipe, type Provider } from '@nestjs/common';
import { Args, Ctx, McpContext, McpModule, Tool, Validator } from '../../../dist/cjs/index.js';
import { CALL, isClean, RULES } from '../interceptors.js';
import { QUESTION, SECRET } from '../mrtr-question.js';
import { addMethod, toolsOf } from './catalog.js';
import { OrderDto, receipt, Roles, RolesGuard } from './orders.js';
import { startBackend } from './backend.js';
import { createApp, readSetup, serve, type Auth } from './setup.js';

const setup = readSetup();
// Loaded only where it is measured, as an application would.
const toolsetsEntry =
  setup.toolsets || setup.search ? await import('../../../dist/cjs/toolsets/index.js') : undefined;

class Tools {}
for (const [index, { name, description, schema }] of toolsOf(setup.tools).entries()) {
  const method = `tool${index}`;
  const tool = Tool({ name, description, inputSchema: schema });
  const set = `set-${Math.floor((index * (setup.toolsets ?? 1)) / setup.tools)}`;
  const toolset = setup.toolsets ? [toolsetsEntry!.Toolset(set)] : [];
  addMethod(Tools.prototype, method, ({ text }: { text: string }) => text, tool, ...toolset);
  Args()(Tools.prototype, method, 0);
}

class GuardedOrders {
  @Tool({ name: CALL.name })
  @UseGuards(RolesGuard)
  @Roles('customer')
  order(@Args() order: OrderDto) {
    return receipt(order);
  }
}

@Controller('orders')
class RoutedOrders {
  @Tool({ name: CALL.name })
  @Post()
  @UseGuards(RolesGuard)
  @Roles('customer')
  order(@Body() order: OrderDto) {
    return receipt(order);
  }
}

class Orders {
  @Tool({ name: CALL.name, inputSchema: { type: 'object' } })
  order(@Args() order: OrderDto) {
    return receipt(order);
  }

  @Tool({ inputSchema: { type: 'object' } })
  async ask(@Args() order: OrderDto, @Ctx() ctx: McpContext) {
    await ctx.elicit('region', QUESTION);
    return receipt(order);
  }

  @Tool({ inputSchema: { type: 'object' } })
  async report(@Args() order: OrderDto, @Ctx() ctx: McpContext) {
    await ctx.reportProgress(1, 2);
    return receipt(order);
  }
}

class Works {
  @Tool({ name: 'work', inputSchema: { type: 'object' }, task: 'optional' })
  work(@Args() order: OrderDto) {
    return receipt(order);
  }
}

class Validators {}
const checks = { rules: RULES, scans: RULES.map(() => isClean) }[setup.feature as string] ?? [];
for (const [index, isValid] of checks.entries()) {
  const run = ({ payload }: { payload: unknown }) => isValid(payload as typeof CALL);
  addMethod(Validators.prototype, `check${index}`, run, Validator({ events: ['tools/call'] }));
}

const ORDERS: Partial<Record<string, Provider[]>> = {
  guarded: [GuardedOrders],
  route: [],
  tasks: [Orders, Works],
};
const orders = setup.feature ? (ORDERS[setup.feature] ?? [Orders]) : [];
const auth = setup.auth ? [await protection(setup.auth)] : [];
const redis = setup.redis
  ? [
      (await import('../../../dist/cjs/redis/index.js')).McpRedisModule.forRoot({
        url: process.env['REDIS_URL']!,
      }),
    ]
  : [];
// No limit ends the measurement.
const MANY = { max: 10_000_000, maxPerCaller: 10_000_000, ttlMs: 1000 };
const tasks = setup.tasks
  ? [(await import('../../../dist/cjs/tasks/index.js')).McpTasksModule.forRoot(MANY)]
  : [];
const toolsets = setup.toolsets ? [toolsetsEntry!.McpToolsetsModule.forRoot()] : [];
const search = setup.search ? [toolsetsEntry!.McpToolSearchModule.forRoot()] : [];
const telemetry = setup.telemetry
  ? [(await import('../../../dist/cjs/telemetry/index.js')).McpTelemetryModule.forRoot()]
  : [];

const SERVER = { name: 'bench', version: '1.0.0', mrtr: { secret: SECRET } };

const GUARD = { canActivate: () => true };
const explorer = setup.explorer
  ? [(await import('../../../dist/cjs/explorer/index.js')).McpExplorerModule.forRoot({ guards: [GUARD] })]
  : [];

const gateway =
  setup.isProxy &&
  (await import('../../../dist/cjs/gateway/index.js')).McpGatewayModule.forRoot({
    ...SERVER,
    path: '/mcp',
    backend: { url: await startBackend(setup) },
  });

@Module({
  imports: [
    gateway || McpModule.forRoot({ ...SERVER, legacy: setup.legacy }),
    ...redis,
    ...auth,
    ...telemetry,
    ...tasks,
    ...toolsets,
    ...search,
    ...explorer,
  ],
  providers: setup.isProxy ? [] : [Tools, Validators, ...orders],
  controllers: setup.feature === 'route' ? [RoutedOrders] : [],
})
class App {}

const app = await createApp(App, setup.platform);
if (setup.feature === 'route') app.useGlobalPipes(new ValidationPipe({ transform: true, whitelist: true }));
await serve(app, setup.toolsets ? '/mcp/x/set-0' : undefined);

/** Verifies tokens by the keys that an issuer on a free port publishes. */
async function protection({ issuer, audience, jwks, tokenCacheMs }: Auth) {
  const keys: Server = createServer((_request, response) => {
    response.setHeader('content-type', 'application/json').end(JSON.stringify(jwks));
  });
  keys.listen(0, '127.0.0.1');
  await once(keys, 'listening');
  const { port } = keys.address() as AddressInfo;
  const { jwtVerifier, McpAuthModule } = await import('../../../dist/cjs/auth/index.js');
  const jwksUri = `http://127.0.0.1:${port}/jwks`;
  return McpAuthModule.forRoot({
    authorizationServers: [issuer],
    verifier: jwtVerifier({ issuer, jwksUri, audience }),
    tokenCacheMs,
  });
}
