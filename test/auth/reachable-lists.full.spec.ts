import { Injectable, type CanActivate, type ExecutionContext, type Type } from '@nestjs/common';
import { McpExecutionContext, Tool, Visible } from 'nestjs-mcp';
import { AllowAnonymous, McpAuthModule, RequireScopes, type McpAuthOptions } from 'nestjs-mcp/auth';
import { LogSpy } from '../fixtures/log-spy.js';
import { anyCell, startApp, type Cell, type TestApp } from '../fixtures/matrix.js';
import { bearer, trusting } from './callers.js';
import { ask, openSession } from './raw-caller.js';

@Injectable()
class GraceOnly implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const { authInfo } = McpExecutionContext.create(context).getContext();
    return authInfo?.extra?.['sub'] === 'grace';
  }
}

@Injectable()
class Tools {
  @Tool()
  member() {
    return 'member';
  }

  @RequireScopes('read')
  @Tool()
  reads() {
    return 'read';
  }

  @RequireScopes('write')
  @Tool()
  writes() {
    return 'written';
  }

  @RequireScopes('read', 'admin')
  @Tool()
  administers() {
    return 'administered';
  }

  @Visible(GraceOnly)
  @RequireScopes('write')
  @Tool()
  hidden() {
    return 'hidden';
  }
}

@Injectable()
class Lobby {
  @AllowAnonymous()
  @Tool()
  open() {
    return 'open';
  }
}

const SUPPORTED = { scopesSupported: ['write'], impliedScopes: { write: ['read'] } };
const ANYBODY = {};

const log = new LogSpy();
let app: TestApp | undefined;
afterEach(() => app?.close());

const startWith = async (
  options: Partial<McpAuthOptions>,
  handlers: Type[],
  { platform, legacy }: Partial<Cell> = {},
) => {
  log.warnings.splice(0);
  app = await startApp(handlers, {
    platform,
    mcp: { legacy, cache: { 'tools/list': { ttlMs: 60_000, cacheScope: 'public' } } },
    module: {
      imports: [
        McpAuthModule.forRoot({
          authorizationServers: ['https://login.example'],
          verifier: trusting,
          ...options,
        }),
      ],
    },
    configure: one => one.useLogger(log),
  });
  return app.url();
};

describe.each(anyCell())('$name', ({ era, ...cell }) => {
  const { legacy } = cell;
  const start = (options: Partial<McpAuthOptions>, handlers: Type[] = [Tools, Lobby]) =>
    startWith(options, handlers, cell);

  const send = async (url: string, headers: Record<string, string>, method: string, params?: object) => {
    const session = era === 'legacy' && legacy === 'sessions' ? await openSession(url, headers) : undefined;
    return ask({ url, era, headers, session }, method, { ...params });
  };

  const listed = async (url: string, headers: Record<string, string>) => {
    const { result } = await send(url, headers, 'tools/list');
    return (result?.['tools'] as { name: string }[]).map(({ name }) => name);
  };

  describe('a list shows what its caller can reach', () => {
    it('by a login or a step-up to the supported scopes', async () => {
      const url = await start(SUPPORTED);
      const reachable = ['member', 'reads', 'writes', 'open'];
      expect(await listed(url, ANYBODY)).toEqual(reachable);
      expect(await listed(url, bearer('ada'))).toEqual(reachable);
      expect(await listed(url, bearer('ada', 'read'))).toEqual(reachable);
    });

    it('with a scope that only its token has, together with the supported scopes', async () => {
      const url = await start(SUPPORTED);
      const all = ['member', 'reads', 'writes', 'administers', 'open'];
      expect(await listed(url, bearer('ada', 'admin'))).toEqual(all);
    });

    it('by any scope, if the server does not name the scopes', async () => {
      const url = await start({});
      const all = ['member', 'reads', 'writes', 'administers', 'open'];
      expect(await listed(url, ANYBODY)).toEqual(all);
      expect(await listed(url, bearer('ada'))).toEqual(all);
    });

    it('by a login without scopes, if the server supports none', async () => {
      const url = await start({ scopesSupported: [] });
      expect(await listed(url, ANYBODY)).toEqual(['member', 'open']);
      expect(await listed(url, bearer('ada', 'write'))).toEqual(['member', 'writes', 'open']);
    });

    it('and never what @Visible hides', async () => {
      const url = await start({});
      expect(await listed(url, bearer('ada', 'write'))).not.toContain('hidden');
      expect(await listed(url, bearer('grace'))).toContain('hidden');
    });
  });

  it('a listed tool still starts a login or a step-up', async () => {
    const url = await start(SUPPORTED);
    const call = { name: 'writes', arguments: {} };
    expect(await send(url, ANYBODY, 'tools/call', call)).toMatchObject({
      status: 401,
      challenge: expect.stringContaining('scope="write"'),
    });
    expect(await send(url, bearer('ada', 'read'), 'tools/call', call)).toMatchObject({
      status: 403,
      challenge: expect.stringContaining('error="insufficient_scope", scope="write"'),
    });
  });

  it('without anonymous access, a list needs a token', async () => {
    const url = await start(SUPPORTED, [Tools]);
    const { status, challenge } = await ask({ url, era }, 'tools/list');
    expect([status, challenge]).toEqual([401, expect.stringContaining('scope="write"')]);
  });
});

@Injectable()
class Scoped {
  @RequireScopes('read')
  @Tool()
  reads() {
    return 'read';
  }
}

it.each<[string, Partial<McpAuthOptions>, string]>([
  ['supports the scopes of all handlers', { scopesSupported: ['read'] }, 'public'],
  ['does not support a scope', { scopesSupported: ['write'] }, 'private'],
  ['lists what is allowed only', { scopesSupported: ['read'], lists: 'allowed' }, 'private'],
  ['lists everything', { scopesSupported: ['write'], lists: 'all' }, 'public'],
])('the list of a server that %s is cacheable as its callers differ', async (_what, options, cacheScope) => {
  const url = await startWith(options, [Scoped, Lobby]);
  const { result } = await ask({ url, era: 'modern', headers: bearer('ada') }, 'tools/list');
  expect(result).toMatchObject({ cacheScope, ttlMs: 60_000 });
});

describe('at start', () => {
  it('a warning names the handlers that no login can open', async () => {
    await startWith(SUPPORTED, [Tools, Lobby]);
    expect(log.warnings).toEqual([expect.stringContaining('Tools.administers (admin)')]);
    expect(log.warnings[0]).toContain('McpModule(test)');
    expect(log.warnings[0]).not.toContain('Tools.writes');
  });

  it.each<[string, Partial<McpAuthOptions>]>([
    ['every scope is reachable', {}],
    ['lists show what is allowed', { ...SUPPORTED, lists: 'allowed' }],
    ['lists show everything', { ...SUPPORTED, lists: 'all' }],
  ])('there is no warning if %s', async (_why, options) => {
    await startWith(options, [Tools, Lobby]);
    expect(log.warnings).toEqual([]);
  });
});
