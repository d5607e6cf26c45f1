import { Injectable, Scope, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { Ctx, McpContext, Mutator, Tool, Validator, Visible, type InterceptorInvocation } from 'nestjs-mcp';
import { startExplored } from './explored-app.js';

interface Asking {
  readonly ip: string;
  readonly user?: { readonly roles: readonly string[] };
  get(name: string): string | undefined;
}

@Injectable()
class NearGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<Asking>();
    const isNear = request.ip.endsWith('127.0.0.1') && request.get('X-Area') === undefined;
    return isNear && request.user?.roles.includes('clerk') === true;
  }
}

@Injectable()
class BrokenGuard implements CanActivate {
  canActivate(): boolean {
    throw new TypeError('canary-8d21e7 is not a function');
  }
}

@Injectable()
class Tools {
  @Tool({ description: 'For clerks nearby' })
  @Visible(NearGuard)
  near() {
    return 'near';
  }

  @Tool({ description: 'Behind a guard that fails' })
  @Visible(BrokenGuard)
  broken() {
    return 'broken';
  }
}

it('guards of @Visible read the request of a synthetic caller, and a guard that fails is named', async () => {
  const app = await startExplored([Tools]);
  const caller = { kind: 'synthetic', scopes: [], roles: ['clerk'] };
  const { json, text } = await app.post('/mcp-explorer/api/callers', { server: 'test', caller });
  await app.close();
  const [tools] = json.lists;
  expect(tools.entries).toMatchObject([{ name: 'near' }]);
  expect(tools.missing).toMatchObject([
    { name: 'broken', by: 'guard', names: ['BrokenGuard'], why: expect.stringMatching(/failed.*TypeError/) },
  ]);
  expect(text).not.toContain('canary');
});

const API = '/mcp-explorer/api';
const ANONYMOUS = { server: 'test', caller: { kind: 'anonymous' } };

@Injectable()
class Ping {
  @Tool({ description: 'Pings', annotations: { readOnlyHint: true } })
  ping(@Ctx() ctx: McpContext) {
    const { socket } = ctx.request as { socket: { setNoDelay(on: boolean): void } };
    socket.setNoDelay(true);
    return 'pong';
  }
}

@Injectable()
class Faults {
  @Validator({ name: 'database', events: ['tools/call'], phase: 'request', mode: 'audit' })
  database(): boolean {
    throw new Error('no connection with canary-8d21e7');
  }

  @Mutator({ name: 'large', events: ['tools/call'], phase: 'response', mode: 'audit' })
  large({ payload }: InterceptorInvocation<'tools/call', 'response'>) {
    return { ...payload, _meta: { large: 10n } };
  }
}

it('a trace shows values that JSON does not have, and no message of an error', async () => {
  const app = await startExplored([Ping], { module: { providers: [Faults] } });
  const call = { ...ANONYMOUS, method: 'tools/call', params: { name: 'ping' } };
  const { status, json, text } = await app.post(`${API}/call`, call);
  await app.close();
  expect([status, json.result.value.content[0].text]).toEqual([200, 'pong']);
  expect(text).not.toContain('canary');
  const turns = json.chain.flatMap((run: { turns: object[] }) => run.turns);
  expect(turns).toMatchObject([
    { id: 'local/database', outcome: 'crash', error: expect.stringContaining('log of the application') },
    { id: 'local/large' },
  ]);
});

it('a list with too many pages has no invented reasons', async () => {
  class Many {}
  for (let index = 0; index < 60; index++) {
    const name = `tool${index}`;
    const descriptor = { value: () => name, configurable: true, writable: true };
    Object.defineProperty(Many.prototype, name, descriptor);
    Tool({ description: 'One of many' })(Many.prototype, name, descriptor);
  }
  const app = await startExplored([Many], { mcp: { pageSize: 1 } });
  const { json } = await app.post(`${API}/callers`, ANONYMOUS);
  await app.close();
  expect(json.lists[0]).toMatchObject({ isCut: true, missing: [] });
  expect(json.lists[0].entries).toHaveLength(50);
});

it('says that it cannot call a path with parameters', async () => {
  const app = await startExplored([Ping], { mcp: { http: { path: '/tenants/:tenant/mcp' } } });
  const { status, text } = await app.post(`${API}/callers`, ANONYMOUS);
  await app.close();
  expect([status, text]).toEqual([501, expect.stringContaining('the path has parameters')]);
});

it('names global guards without a class', async () => {
  const guard = { canActivate: () => true };
  const providers = [
    { provide: APP_GUARD, useValue: guard },
    { provide: APP_GUARD, useFactory: () => guard, scope: Scope.REQUEST },
  ];
  const app = await startExplored([Ping], { module: { providers } });
  const { json } = await app.get(`${API}/catalogue`);
  await app.close();
  const names = json.servers[0].handlers[0].steps.map(({ name }: { name: string }) => name);
  expect(names).toEqual(['object without a class', 'APP_GUARD']);
});
