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
  platform: Platform;
  era: 'modern' | 'legacy';
}

const CELLS = [
  { platform: 'express', era: 'modern' },
  { platform: 'fastify', era: 'legacy' },
] as const;

const LEVELS: readonly Level[] = ['method', 'class', 'APP_* provider', 'useGlobal*'];

/** Each two of a kind, a level, an enhancer, a provider, and a platform with its era come together in one row. */
const CASES: Case[] = ENHANCERS.flatMap((kind, k) =>
  LEVELS.map((level, l) => ({
    kind,
    level,
    enhancer:
      level === 'useGlobal*'
        ? ('ready-made' as const)
        : (['singleton', 'request-scoped', 'ready-made'] as const)[(k + l) % 3],
    provider: (['singleton', 'request-scoped'] as const)[(k ^ l) & 1],
    ...CELLS[((k ^ l) >> 1) & 1],
  })),
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

async function start({ kind, level, enhancer, provider, platform }: Case): Promise<TestApp> {
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

let test: TestApp;
afterEach(() => test.close());

it.each(CASES)(
  'on $platform, $era era, a $enhancer $kind from the $level runs on a $provider provider',
  async row => {
    test = await start(row);
    const client = await test.client({ era: row.era });
    const { instances } = test.app.get(Trace);
    const { who, answer } = EFFECTS[row.kind];
    const call = async (name: string) =>
      textOf(await client.callTool({ name: 'greet', arguments: { who: name } }));

    expect(await call(who)).toBe(answer);
    expect(await call(who)).toBe(answer);
    expect(instances).toHaveLength(2);
    expect(instances[0] === instances[1]).toBe(row.enhancer !== 'request-scoped');
    if (row.kind === 'guard') await expect(call('mallory')).rejects.toMatchObject({ code: -32000 });
  },
);
