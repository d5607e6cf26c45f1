import {
  Injectable,
  Scope,
  UseGuards,
  type CanActivate,
  type ExecutionContext,
  type Type,
} from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { McpServerRegistry, Tool } from 'nestjs-mcp';
import { startApp, type TestApp, type TestAppOptions } from '../../test/fixtures/matrix.js';

/** Nest hands out an unconstructed placeholder where it did not make the instance, and that one would let all in. */
function denying(scope: Scope): Type<CanActivate> {
  @Injectable({ scope })
  class DenyingGuard implements CanActivate {
    private readonly denies = true;

    canActivate(context: ExecutionContext): boolean {
      return context.getType<string>() !== 'mcp' || !this.denies;
    }
  }
  return DenyingGuard;
}

function makeTools(): Type {
  @Injectable()
  class Tools {
    @Tool()
    open() {
      return 'open';
    }
  }
  return Tools;
}

type Start = (guard: Type<CanActivate>) => Promise<TestApp>;

const withGlobal = (guard: Type<CanActivate>, { providers = [], ...rest }: TestAppOptions['module'] = {}) =>
  startApp([], { module: { ...rest, providers: [...providers, { provide: APP_GUARD, useClass: guard }] } });

const PLACES: Record<string, Start> = {
  'a global guard on a provider': guard => withGlobal(guard, { providers: [makeTools()] }),
  'a global guard on a provider made by a factory': guard => {
    const tools = makeTools();
    return withGlobal(guard, { providers: [{ provide: 'TOOLS', useFactory: () => new tools() as object }] });
  },
  'a global guard on a class behind a token': guard =>
    withGlobal(guard, { providers: [{ provide: 'TOOLS', useClass: makeTools() }] }),
  'a global guard on a handler added at run time': async guard => {
    const test = await withGlobal(guard);
    await test.app.get(McpServerRegistry).add('tool', { name: 'open' }, () => 'open');
    return test;
  },
  'a class guard on a provider': guard => {
    const tools = makeTools();
    UseGuards(guard)(tools);
    return startApp([tools]);
  },
};

const SCOPES: [string, Scope][] = [
  ['singleton', Scope.DEFAULT],
  ['request-scoped', Scope.REQUEST],
  ['transient', Scope.TRANSIENT],
];

describe.each(SCOPES)('a %s guard is never left out:', (_name, scope) => {
  let test: TestApp;
  afterEach(() => test.close());

  it.each(Object.entries(PLACES))('%s', async (_place, start) => {
    test = await start(denying(scope));
    const client = await test.client();
    await expect(client.callTool({ name: 'open' })).rejects.toMatchObject({
      code: -32000,
      message: 'Forbidden resource',
    });
  });
});
