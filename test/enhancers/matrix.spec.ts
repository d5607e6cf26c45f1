import { ConflictException, Injectable, Scope, type Provider, type Type } from '@nestjs/common';
import { Args, Tool } from 'nestjs-mcp';
import { z } from 'zod';
import {
  APP,
  ENHANCERS,
  makeEnhancer,
  Trace,
  USE,
  useGlobal,
  type EnhancerKind,
} from '../fixtures/enhancers.js';
import { startApp, textOf, type Platform, type TestApp } from '../fixtures/matrix.js';

type Level = 'method' | 'class' | 'APP_* provider' | 'useGlobal*';

const SCOPES = { singleton: Scope.DEFAULT, 'request-scoped': Scope.REQUEST };
type ScopeName = keyof typeof SCOPES;

interface Case {
  kind: EnhancerKind;
  level: Level;
  /** How the enhancer is given: as a class of that scope, or as an instance. */
  enhancer: ScopeName | 'ready-made';
  provider: ScopeName;
}

const CASES: Case[] = (['singleton', 'request-scoped'] as const).flatMap(provider =>
  ENHANCERS.flatMap(kind => [
    ...(['method', 'class', 'APP_* provider'] as const).flatMap(level =>
      (['singleton', 'request-scoped', 'ready-made'] as const).map(enhancer => ({
        kind,
        level,
        enhancer,
        provider,
      })),
    ),
    { kind, level: 'useGlobal*' as const, enhancer: 'ready-made' as const, provider },
  ]),
);

/** A tool that answers with `who`, or throws for `nobody`. */
function makeTools(scope: Scope): Type {
  @Injectable({ scope })
  class Tools {
    @Tool({ inputSchema: z.object({ who: z.string() }) })
    greet(@Args() { who }: { who: string }) {
      if (who.startsWith('nobody')) throw new ConflictException('Nobody is there');
      return who;
    }
  }
  return Tools;
}

async function start({ kind, level, enhancer, provider }: Case, platform: Platform): Promise<TestApp> {
  const trace = new Trace();
  const type = makeEnhancer(kind, kind, enhancer === 'ready-made' ? Scope.DEFAULT : SCOPES[enhancer]);
  const instance = new type(trace) as object;
  const given = enhancer === 'ready-made' ? instance : type;
  const tools = makeTools(SCOPES[provider]);
  const providers: Provider[] = [{ provide: Trace, useValue: trace }];
  if (level === 'class') USE[kind](given)(tools);
  if (level === 'method') {
    const { prototype } = tools as { prototype: object };
    USE[kind](given)(prototype, 'greet', Object.getOwnPropertyDescriptor(prototype, 'greet')!);
  }
  if (level === 'APP_* provider') {
    const provide = APP[kind];
    providers.push(given === type ? { provide, useClass: type } : { provide, useValue: instance });
  }
  return startApp([tools], {
    platform,
    module: { providers },
    configure: app => {
      if (level === 'useGlobal*') useGlobal(app, kind, instance);
    },
  });
}

/** What each kind of enhancer makes of a call, and the call that shows it. */
const EFFECTS: Record<EnhancerKind, { who: string; answer: string }> = {
  guard: { who: 'ada', answer: 'ada' },
  pipe: { who: 'ada', answer: 'ada, pipe' },
  interceptor: { who: 'ada', answer: 'ada, interceptor' },
  filter: { who: 'nobody', answer: 'Nobody is there, filter' },
};

describe.each([
  ['express', 'modern'],
  ['fastify', 'legacy'],
] as const)('on %s, %s era', (platform, era) => {
  let test: TestApp;
  afterEach(() => test.close());

  it.each(CASES)('a $enhancer $kind from the $level runs on a $provider provider', async row => {
    test = await start(row, platform);
    const client = await test.client({ era });
    const { instances } = test.app.get(Trace);
    const { who, answer } = EFFECTS[row.kind];
    const call = async (name: string) =>
      textOf(await client.callTool({ name: 'greet', arguments: { who: name } }));

    expect(await call(who)).toBe(answer);
    expect(await call(who)).toBe(answer);
    expect(instances).toHaveLength(2);
    expect(instances[0] === instances[1]).toBe(row.enhancer !== 'request-scoped');
    if (row.kind === 'guard') await expect(call('mallory')).rejects.toMatchObject({ code: -32000 });
  });
});
