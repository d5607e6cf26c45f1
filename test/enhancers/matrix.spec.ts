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
  enhancer: ScopeName;
  provider: ScopeName;
}

const CASES: Case[] = (Object.keys(SCOPES) as ScopeName[]).flatMap(provider =>
  ENHANCERS.flatMap(kind => [
    ...(['method', 'class', 'APP_* provider'] as const).flatMap(level =>
      (Object.keys(SCOPES) as ScopeName[]).map(enhancer => ({ kind, level, enhancer, provider })),
    ),
    { kind, level: 'useGlobal*' as const, enhancer: 'singleton' as const, provider },
  ]),
);

/** A tool that answers with `who`, or throws for `nobody`. */
function makeTools(scope: Scope): Type {
  @Injectable({ scope })
  class Tools {
    @Tool({ input: z.object({ who: z.string() }) })
    greet(@Args() { who }: { who: string }) {
      if (who.startsWith('nobody')) throw new ConflictException('Nobody is there');
      return who;
    }
  }
  return Tools;
}

async function start({ kind, level, enhancer, provider }: Case, platform: Platform): Promise<TestApp> {
  const made = makeEnhancer(kind, kind, SCOPES[enhancer]);
  const tools = makeTools(SCOPES[provider]);
  const providers: Provider[] = [Trace];
  if (level === 'class') USE[kind](made)(tools);
  if (level === 'method') {
    const { prototype } = tools as { prototype: object };
    USE[kind](made)(prototype, 'greet', Object.getOwnPropertyDescriptor(prototype, 'greet')!);
  }
  if (level === 'APP_* provider') providers.push({ provide: APP[kind], useClass: made });
  return startApp([tools], {
    platform,
    module: { providers },
    configure: app => {
      if (level === 'useGlobal*') useGlobal(app, kind, new made(app.get(Trace)) as object);
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
  it.each(CASES)('a $enhancer $kind from the $level runs on a $provider provider', async row => {
    const test = await start(row, platform);
    const client = await test.client({ era });
    const trace = test.app.get(Trace);
    const { who, answer } = EFFECTS[row.kind];
    const call = async (name: string) =>
      textOf(await client.callTool({ name: 'greet', arguments: { who: name } }));

    expect(await call(who)).toBe(answer);
    expect(await call(who)).toBe(answer);
    const [first, second] = trace.instances;
    expect(trace.instances).toHaveLength(2);
    expect(first === second).toBe(row.enhancer === 'singleton');
    if (row.kind === 'guard') await expect(call('mallory')).rejects.toMatchObject({ code: -32000 });
    await test.close();
  });
});
