import {
  ConflictException,
  Global,
  Module,
  Injectable,
  Scope,
  type CanActivate,
  type ExecutionContext,
} from '@nestjs/common';
import type { Client } from '@modelcontextprotocol/client';
import { McpServerRegistry } from 'nestjs-mcp';
import type { HandlerEnhancers } from '../../lib/module/mcp-server-registry.js';
import { APP, ENHANCERS, makeEnhancer, Trace, useGlobal, type EnhancerKind } from '../fixtures/enhancers.js';
import { anyPlatform, startApp, textOf, type TestApp } from '../fixtures/matrix.js';

const greet = ({ who }: { who: string }) => {
  if (who.startsWith('nobody')) throw new ConflictException('Nobody is there');
  return who;
};

/** What each kind of enhancer makes of a call, and the call that shows it. */
const EFFECTS: Record<EnhancerKind, { who: string; answer: string }> = {
  guard: { who: 'ada', answer: 'ada' },
  pipe: { who: 'ada', answer: 'ada, pipe' },
  interceptor: { who: 'ada', answer: 'ada, interceptor' },
  filter: { who: 'nobody', answer: 'Nobody is there, filter' },
};

const OPTION = {
  guard: 'guards',
  pipe: 'pipes',
  interceptor: 'interceptors',
  filter: 'filters',
} as const satisfies Record<EnhancerKind, keyof HandlerEnhancers>;

const call = async (client: Client, who: string) =>
  textOf(await client.callTool({ name: 'greet', arguments: { who } }));

async function expectEffect(test: TestApp, kind: EnhancerKind): Promise<void> {
  const client = await test.client();
  const { who, answer } = EFFECTS[kind];
  expect(await call(client, who)).toBe(answer);
  expect(test.app.get(Trace).instances).toHaveLength(1);
  if (kind === 'guard') await expect(call(client, 'mallory')).rejects.toMatchObject({ code: -32000 });
}

/** Global, so that enhancers which no module provides can inject it. */
@Global()
@Module({ providers: [Trace], exports: [Trace] })
class TraceModule {}

describe.each(anyPlatform())('a handler added at run time on %s', platform => {
  let test: TestApp;
  afterEach(() => test.close());

  const start = (options: Parameters<typeof startApp>[1] = {}, providers: object[] = []) =>
    startApp([], {
      platform,
      mcp: { capabilities: { tools: true } },
      ...options,
      module: { imports: [TraceModule], providers: providers as never[] },
    });
  const add = (options: HandlerEnhancers = {}) =>
    test.app
      .get(McpServerRegistry)
      .add('tool', { name: 'greet', inputSchema: { type: 'object' }, ...options }, greet);

  describe.each(ENHANCERS)('has a %s', kind => {
    it('that is a class no module provides, with what global modules export', async () => {
      test = await start();
      await add({ [OPTION[kind]]: [makeEnhancer(kind)] });
      await expectEffect(test, kind);
    });

    it('that is a class some module provides, and shares the instance', async () => {
      const type = makeEnhancer(kind);
      test = await start({}, [type]);
      await add({ [OPTION[kind]]: [type] });
      await expectEffect(test, kind);
      expect(test.app.get(Trace).instances[0]).toBe(test.app.get(type));
    });

    it('that is an instance', async () => {
      test = await start();
      const type = makeEnhancer(kind);
      await add({ [OPTION[kind]]: [new type(test.app.get(Trace)) as object] });
      await expectEffect(test, kind);
    });

    it.each([Scope.DEFAULT, Scope.REQUEST, Scope.TRANSIENT])(
      'that is an APP_* provider of scope %s',
      async scope => {
        test = await start({}, [{ provide: APP[kind], useClass: makeEnhancer(kind, kind, scope) }]);
        await add();
        await expectEffect(test, kind);
      },
    );

    it('that is global', async () => {
      const type = makeEnhancer(kind);
      test = await start({
        configure: app => useGlobal(app, kind, new type(app.get(Trace)) as object),
      });
      await add();
      await expectEffect(test, kind);
    });
  });

  it('runs them in the order of a decorated one, for every kind of handler', async () => {
    test = await start({ mcp: { capabilities: { tools: true, prompts: true, resources: true } } });
    const registry = test.app.get(McpServerRegistry);
    const enhancers: HandlerEnhancers = {
      guards: [makeEnhancer('guard')],
      interceptors: [makeEnhancer('interceptor')],
      filters: [makeEnhancer('filter')],
    };
    const failing = () => {
      throw new ConflictException('Taken');
    };
    await registry.add('prompt', { name: 'p', ...enhancers }, () => 'prompt');
    await registry.add('resource', { uri: 'r://r', ...enhancers }, failing);
    await registry.add('resource template', { uriTemplate: 't://{t}', ...enhancers }, () => 'template');
    const client = await test.client();
    const { steps } = test.app.get(Trace);

    const { messages } = await client.getPrompt({ name: 'p' });
    expect(messages[0].content).toMatchObject({ text: 'prompt, interceptor' });
    expect(steps.splice(0)).toEqual(['guard', 'interceptor', 'after interceptor']);
    expect((await client.readResource({ uri: 'r://r' })).contents).toMatchObject([{ text: 'Taken, filter' }]);
    expect(steps.splice(0)).toEqual(['guard', 'interceptor', 'filter']);
    expect((await client.readResource({ uri: 't://t' })).contents).toMatchObject([
      { text: 'template, interceptor' },
    ]);
    expect(steps.splice(0)).toEqual(['guard', 'interceptor', 'after interceptor']);
  });

  it('is what guards see as handler and class', async () => {
    @Injectable()
    class Recording implements CanActivate {
      seen?: ExecutionContext;

      canActivate(context: ExecutionContext) {
        this.seen = context;
        return true;
      }
    }
    const guard = new Recording();
    test = await start();
    await add({ guards: [guard] });
    await call(await test.client(), 'ada');
    expect(guard.seen?.getType<string>()).toBe('mcp');
    expect(guard.seen?.getHandler().name).toBe('greet');
    expect(guard.seen?.getClass().name).toBe('RuntimeHandler');
  });
});
