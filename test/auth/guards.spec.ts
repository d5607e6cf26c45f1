import {
  Inject,
  Injectable,
  Scope,
  UnauthorizedException,
  UseGuards,
  type CanActivate,
  type ExecutionContext,
} from '@nestjs/common';
import { APP_GUARD, REQUEST } from '@nestjs/core';
import {
  Ctx,
  McpContext,
  McpExecutionContext,
  McpModule,
  Mutator,
  Tool,
  Visible,
  type InterceptorInvocation,
} from 'nestjs-mcp';
import { AllowAnonymous, McpAuthModule, RequireScopes, type McpAuthOptions } from 'nestjs-mcp/auth';
import { startApp, type TestApp, type TestAppOptions } from '../fixtures/matrix.js';
import { LogSpy } from '../fixtures/log-spy.js';
import { bearer, trusting } from './callers.js';
import { ask } from './raw-caller.js';

type Module = NonNullable<TestAppOptions['module']>;

const apps: TestApp[] = [];
afterEach(() => Promise.all(apps.splice(0).map(app => app.close())));

const start = async (
  handlers: readonly unknown[],
  {
    auth = {},
    configure,
    ...module
  }: Module & { auth?: Partial<McpAuthOptions>; configure?: TestAppOptions['configure'] } = {},
) => {
  const app = await startApp(handlers as never[], {
    configure,
    module: {
      ...module,
      imports: [
        McpAuthModule.forRoot({
          authorizationServers: ['https://login.example'],
          verifier: trusting,
          ...auth,
        }),
        ...(module.imports ?? []),
      ],
    },
  });
  apps.push(app);
  return app.url();
};

const call = (url: string, headers: Record<string, string>, name: string, args: object = {}) =>
  ask({ url, era: 'modern', headers }, 'tools/call', { name, arguments: args });

const list = async (url: string, headers: Record<string, string>) => {
  const { result } = await ask({ url, era: 'modern', headers }, 'tools/list');
  return (result?.['tools'] as { name: string }[]).map(({ name }) => name);
};

describe('guards of the application', () => {
  @Injectable()
  class Refuses implements CanActivate {
    canActivate(): boolean {
      throw new UnauthorizedException('Not today');
    }
  }

  @Injectable()
  class Tools {
    @UseGuards(Refuses)
    @Tool()
    guarded() {
      return 'guarded';
    }

    @Tool()
    open(@Ctx() { request }: McpContext) {
      return String((request as { user?: { sub: string } }).user?.sub);
    }
  }

  it('refuse a call of a handler by a JSON-RPC error, for a client would log in on HTTP 401', async () => {
    const url = await start([Tools]);
    expect(await call(url, bearer('ada'), 'guarded')).toMatchObject({
      status: 200,
      challenge: null,
      error: { code: -32000, message: 'Not today', data: { statusCode: 401 } },
    });
  });

  it('find the caller where they look for it, if they are global, too', async () => {
    const seen: unknown[] = [];
    @Injectable()
    class Global implements CanActivate {
      canActivate(context: ExecutionContext): boolean {
        if (context.getType<string>() !== 'mcp') return true;
        seen.push(context.switchToHttp().getRequest<{ user?: { sub?: string } }>().user?.sub);
        return true;
      }
    }
    const url = await start([Tools], { providers: [{ provide: APP_GUARD, useClass: Global }] });
    const { result } = await call(url, bearer('ada'), 'open');
    expect(result).toMatchObject({ content: [{ text: 'ada' }] });
    expect(seen).toEqual(['ada']);
  });
});

describe('@Visible', () => {
  it('takes a guard with dependencies, also of the request, and one that is not a class', async () => {
    @Injectable()
    class Staff {
      readonly names = ['grace'];
    }

    @Injectable({ scope: Scope.REQUEST })
    class StaffOnly implements CanActivate {
      constructor(
        private readonly staff: Staff,
        @Inject(REQUEST) private readonly request: { user?: { sub: string } },
      ) {}

      canActivate(): boolean {
        return this.staff.names.includes(String(this.request.user?.sub));
      }
    }

    @Injectable()
    class Tools {
      @Visible(StaffOnly)
      @Tool()
      staff() {
        return 'staff';
      }

      @Visible({ canActivate: async () => false })
      @Tool()
      nobody() {
        return 'nobody';
      }
    }

    const url = await start([Staff, Tools]);
    expect(await list(url, bearer('grace'))).toEqual(['staff']);
    expect(await list(url, bearer('ada'))).toEqual([]);
    expect(await call(url, bearer('grace'), 'staff')).toMatchObject({
      result: { content: [{ text: 'staff' }] },
    });
    expect(await call(url, bearer('ada'), 'staff')).toMatchObject({ error: { code: -32602 } });
  });

  it('of a class and of its method are both needed, and one that fails hides', async () => {
    const answers: (() => boolean)[] = [];
    const next = { canActivate: () => answers.shift()!() };

    @Visible(next)
    @Injectable()
    class Tools {
      @Visible(next)
      @Tool()
      both() {
        return 'both';
      }
    }
    const url = await start([Tools]);
    const seen = async (...now: (() => boolean)[]) => {
      answers.splice(0, Infinity, ...now);
      return (await list(url, bearer('ada'))).length === 1;
    };
    const fail = () => {
      throw new Error('the database is down');
    };
    expect(
      await seen(
        () => true,
        () => true,
      ),
    ).toBe(true);
    expect(
      await seen(
        () => true,
        () => false,
      ),
    ).toBe(false);
    expect(await seen(() => false)).toBe(false);
    expect(await seen(() => true, fail)).toBe(false);
    expect(answers).toEqual([]);
  });

  it('that fails is in the log once in a minute', async () => {
    @Visible({
      canActivate: () => {
        throw new Error('the database is down');
      },
    })
    @Injectable()
    class Tools {
      @Tool()
      one() {
        return 'one';
      }

      @Tool()
      other() {
        return 'other';
      }
    }
    const log = new LogSpy();
    const url = await start([Tools], { configure: app => app.useLogger(log) });
    const failures = () => log.warnings.filter(line => line.includes('a guard of @Visible failed'));
    for (let count = 0; count < 3; count++) expect(await list(url, bearer('ada'))).toEqual([]);
    expect(failures()).toEqual([
      expect.stringMatching(/^Tools.one is hidden/),
      expect.stringMatching(/^Tools.other is hidden/),
    ]);
    const now = performance.now();
    jest.spyOn(performance, 'now').mockReturnValue(now + 60_001);
    await list(url, bearer('ada'));
    jest.restoreAllMocks();
    expect(failures()).toHaveLength(4);
  });

  it('works without McpAuthModule, over 2025 sessions, too', async () => {
    @Injectable()
    class Tools {
      @Visible({
        canActivate: (context: ExecutionContext) =>
          McpExecutionContext.create(context).getContext().headers['x-user'] === 'grace',
      })
      @Tool()
      hidden() {
        return 'hidden';
      }
    }
    const app = await startApp([Tools]);
    apps.push(app);
    for (const era of ['modern', 'legacy'] as const) {
      const grace = await app.client({ era, headers: { 'x-user': 'grace' } });
      const ada = await app.client({ era });
      expect((await grace.listTools()).tools).toHaveLength(1);
      expect((await ada.listTools()).tools).toHaveLength(0);
      await expect(ada.callTool({ name: 'hidden' })).rejects.toThrow('Unknown tool: hidden');
    }
  });

  it('stands before interceptors, which see a call of what is hidden as one of what is not there', async () => {
    const seen: string[] = [];
    @Injectable()
    class Redirect {
      @Mutator({ events: ['tools/call'], scope: { allow: ['/name'] } })
      redirect({ payload }: InterceptorInvocation<'tools/call', 'request'>) {
        seen.push(payload.name);
        return payload.name === 'alias' ? { ...payload, name: 'secret' } : undefined;
      }
    }

    @Injectable()
    class Tools {
      @RequireScopes('secret')
      @Tool()
      secret() {
        return 'secret';
      }

      @Tool()
      alias() {
        return 'alias';
      }
    }
    const url = await start([Tools, Redirect]);
    expect(await call(url, bearer('ada'), 'secret')).toMatchObject({ status: 403 });
    expect(seen).toEqual([]);
    // An interceptor cannot lend rights.
    expect(await call(url, bearer('ada'), 'alias')).toMatchObject({ status: 403 });
    expect(await call(url, bearer('ada', 'secret'), 'alias')).toMatchObject({ status: 200 });
  });
});

describe('the options of McpAuthModule', () => {
  @Injectable()
  class Tools {
    @Tool()
    plain() {
      return 'plain';
    }

    @RequireScopes()
    @Tool()
    member() {
      return 'member';
    }

    @RequireScopes('a')
    @Tool()
    scoped() {
      return 'scoped';
    }
  }

  it('anonymous: handlers without scopes need no token', async () => {
    const url = await start([Tools], { auth: { anonymous: true, lists: 'allowed' } });
    expect(await list(url, {})).toEqual(['plain']);
    expect((await call(url, {}, 'plain')).status).toBe(200);
    expect((await call(url, {}, 'member')).status).toBe(401);
    expect(await list(url, bearer('ada'))).toEqual(['plain', 'member']);
  });

  it('lists: all are shown, and still not to be called', async () => {
    const url = await start([Tools], { auth: { lists: 'all' } });
    expect(await list(url, bearer('ada'))).toEqual(['plain', 'member', 'scoped']);
    expect((await call(url, bearer('ada'), 'scoped')).status).toBe(403);
    expect((await ask({ url, era: 'modern' }, 'tools/list')).status).toBe(401);
  });

  const mistakes: readonly [string, readonly unknown[], readonly unknown[]][] = [
    [
      'it has @RequireScopes(), but no module checks the tokens of the server "other"',
      [],
      [McpModule.forRoot({ name: 'other', version: '1.0.0', http: { path: '/other' } })],
    ],
  ];

  it.each(mistakes)('%s', async (problem, _handlers, imports) => {
    @Injectable()
    class Elsewhere {
      @RequireScopes('a')
      @Tool({ server: 'other' })
      scoped() {
        return 'scoped';
      }
    }
    const started = start([Elsewhere], { auth: { server: 'test' }, imports: imports as never[] });
    await expect(started).rejects.toThrow(problem);
  });

  it.each([
    [
      { server: 'absent' },
      'McpAuthModule.forRoot({ server: "absent" }): the MCP server "absent" does not exist',
    ],
    [
      { authorizationServers: [] },
      'McpAuthModule: "authorizationServers" must be a list of URLs, with at least one',
    ],
    [{ verifier: {} as never }, 'McpAuthModule: "verifier" must be an object with verifyAccessToken'],
    [{ tokenCacheMs: 60_001 }, 'McpAuthModule: "tokenCacheMs" must be'],
  ])('%j stops the start', async (auth, problem) => {
    await expect(start([Tools], { auth })).rejects.toThrow(problem);
  });

  it('two modules for one server stop the start', async () => {
    const again = McpAuthModule.forRoot({
      authorizationServers: ['https://login.example'],
      verifier: trusting,
    });
    await expect(start([Tools], { imports: [again] })).rejects.toThrow(
      'the server "test" is protected twice',
    );
  });

  it('a handler that is open and protected stops the start', async () => {
    @Injectable()
    class Both {
      @AllowAnonymous()
      @RequireScopes('a')
      @Tool()
      both() {
        return 'both';
      }
    }
    await expect(start([Both])).rejects.toThrow('Both.both: it has @AllowAnonymous() and @RequireScopes()');
  });

  it('a decorator of a method wins over one of its class', async () => {
    @RequireScopes('a')
    @Injectable()
    class Mixed {
      @AllowAnonymous()
      @Tool()
      open() {
        return 'open';
      }

      @RequireScopes('b')
      @Tool()
      both() {
        return 'both';
      }

      @Tool()
      one() {
        return 'one';
      }
    }
    const url = await start([Mixed], { auth: { lists: 'allowed' } });
    expect(await list(url, {})).toEqual(['open']);
    expect(await list(url, bearer('ada', 'a'))).toEqual(['open', 'one']);
    expect(await list(url, bearer('ada', 'a', 'b'))).toEqual(['open', 'both', 'one']);
    expect((await call(url, bearer('ada'), 'both')).challenge).toContain('scope="a b"');
  });

  it('a text that is not a scope is refused', () => {
    expect(() => RequireScopes('a b')).toThrow('@RequireScopes: "a b" is not a scope');
  });
});
