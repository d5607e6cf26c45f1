import { Injectable, type Type } from '@nestjs/common';
import {
  Mutator,
  respondWith,
  Tool,
  Validator,
  type InterceptorInvocation,
  type McpInterceptorOptions,
} from 'nestjs-mcp';
import { McpAuthModule } from 'nestjs-mcp/auth';
import { bearer, trusting } from '../auth/callers.js';
import { ask } from '../auth/raw-caller.js';
import { startApp, type TestApp } from '../fixtures/matrix.js';

@Injectable()
class Shop {
  @Tool()
  open() {
    return 'open';
  }

  @Tool()
  wipe() {
    return 'wiped';
  }
}

const isOwner = (context: InterceptorInvocation['context']) => context?.principal?.type === 'user';

@Injectable()
class HidesFromGuests {
  @Mutator({ events: ['tools/list'], phase: 'response' })
  hide({ payload, context }: InterceptorInvocation<'tools/list', 'response'>) {
    if (isOwner(context)) return undefined;
    return { ...payload, tools: payload.tools.filter(({ name }) => name !== 'wipe') };
  }
}

@Injectable()
class AnswersGuests {
  @Mutator({ events: ['tools/list'] })
  answer({ context }: InterceptorInvocation<'tools/list', 'request'>) {
    return isOwner(context) ? undefined : respondWith({ tools: [], cacheScope: 'public' });
  }
}

@Injectable()
class Checks {
  @Validator({ events: ['tools/list'], phase: 'response' })
  check() {
    return true;
  }

  @Mutator({ events: ['tools/call'] })
  change() {
    return undefined;
  }
}

let app: TestApp | undefined;
afterEach(() => app?.close());

const start = async (interceptors: Type, settings: McpInterceptorOptions = {}) => {
  app = await startApp([Shop, interceptors], {
    mcp: { interceptors: settings, cache: { 'tools/list': { ttlMs: 60_000, cacheScope: 'public' } } },
    module: {
      imports: [
        McpAuthModule.forRoot({
          authorizationServers: ['https://login.example'],
          anonymous: true,
          verifier: trusting,
        }),
      ],
    },
  });
  const url = await app.url();
  return async (headers: Record<string, string>) => {
    const { result } = await ask({ url, era: 'modern', headers }, 'tools/list');
    return { ...result, tools: (result?.['tools'] as unknown[]).length };
  };
};

const GUEST = {};
const OWNER = bearer('ada');

describe('a list that is cacheable for everybody', () => {
  it.each<[string, Type, number]>([
    ['changes it', HidesFromGuests, 1],
    ['answers it', AnswersGuests, 0],
  ])('is for one caller only if a mutator %s', async (_how, interceptors, forGuests) => {
    const list = await start(interceptors);
    const own = { cacheScope: 'private', ttlMs: 60_000 };
    expect(await list(GUEST)).toMatchObject({ ...own, tools: forGuests });
    // Another caller must not get what this caller sees either.
    expect(await list(OWNER)).toMatchObject({ ...own, tools: 2 });
  });

  it('is for one caller only if callers may have different chains', async () => {
    const list = await start(Checks, { resolveServers: () => [] });
    expect(await list(GUEST)).toMatchObject({ cacheScope: 'private' });
  });

  it('stays so if no mutator sees it', async () => {
    const list = await start(Checks);
    expect(await list(GUEST)).toMatchObject({ cacheScope: 'public', ttlMs: 60_000 });
  });
});
