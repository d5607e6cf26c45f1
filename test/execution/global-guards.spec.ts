import {
  Controller,
  Get,
  Injectable,
  Scope,
  SetMetadata,
  UnauthorizedException,
  type CanActivate,
  type ExecutionContext,
  type Provider,
  type Type,
} from '@nestjs/common';
import { APP_GUARD, Reflector } from '@nestjs/core';
import { Prompt, Resource, Tool } from 'nestjs-mcp';
import { platforms, startApp, textOf, type Platform, type TestApp } from '../fixtures/matrix.js';

const Roles = (...roles: string[]) => SetMetadata('roles', roles);

interface HttpRequest {
  headers: Record<string, string | undefined>;
  role?: string;
}

interface HttpResponse {
  header(name: string, value: string): void;
}

/** Written for REST: it knows nothing of MCP. A caller without a token is unknown, one without the role forbidden. */
function makeGuard(scope: Scope): Type<CanActivate> {
  @Injectable({ scope })
  class AuthGuard implements CanActivate {
    constructor(private readonly reflector: Reflector) {}

    canActivate(context: ExecutionContext) {
      const request = context.switchToHttp().getRequest<HttpRequest>();
      const [scheme, role] = (request.headers['authorization'] ?? '').split(' ');
      if (scheme !== 'Bearer') {
        context.switchToHttp().getResponse<HttpResponse>().header('www-authenticate', 'Bearer');
        throw new UnauthorizedException('A token is needed');
      }
      if (role === 'banned') return false;
      request.role = role;
      const roles = this.reflector.getAllAndOverride<string[] | undefined>('roles', [
        context.getHandler(),
        context.getClass(),
      ]);
      return roles?.includes(role) ?? true;
    }
  }
  return AuthGuard;
}

@Injectable()
class Open {
  @Tool()
  greet() {
    return 'hello';
  }

  @Tool()
  @Roles('admin')
  purge() {
    return 'purged';
  }

  @Resource({ uri: 'keys://all' })
  @Roles('admin')
  keys() {
    return 'keys';
  }
}

@Injectable()
@Roles('admin')
class AdminOnly {
  @Tool()
  shutdown() {
    return 'shut down';
  }

  @Tool()
  @Roles('admin', 'user')
  status() {
    return 'up';
  }

  @Prompt()
  report() {
    return 'Report';
  }
}

@Controller('rest')
class Rest {
  @Get()
  greet() {
    return 'hello';
  }

  @Get('purge')
  @Roles('admin')
  purge() {
    return 'purged';
  }
}

const INSTALLATIONS = ['useGlobalGuards', 'APP_GUARD', 'a request-scoped APP_GUARD'] as const;

function start(platform: Platform, how: (typeof INSTALLATIONS)[number]): Promise<TestApp> {
  const guard = makeGuard(how === 'a request-scoped APP_GUARD' ? Scope.REQUEST : Scope.DEFAULT);
  const provider: Provider = { provide: APP_GUARD, useClass: guard };
  return startApp([Open, AdminOnly], {
    platform,
    module: { controllers: [Rest], providers: how === 'useGlobalGuards' ? [] : [provider] },
    configure: app => {
      if (how === 'useGlobalGuards') app.useGlobalGuards(new guard(app.get(Reflector)));
    },
  });
}

const json = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
const message = (method: string, params: object = {}) =>
  JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
const initialize = message('initialize', {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'test', version: '1' },
});

/** Every kind of request that an MCP endpoint takes. */
const REQUESTS: Record<string, RequestInit> = {
  initialize: { method: 'POST', headers: json, body: initialize },
  'tools/list': { method: 'POST', headers: json, body: message('tools/list') },
  'tools/call': { method: 'POST', headers: json, body: message('tools/call', { name: 'greet' }) },
  'a body that is no JSON': { method: 'POST', headers: json, body: '{' },
  'the GET stream': { method: 'GET', headers: { accept: 'text/event-stream' } },
  DELETE: { method: 'DELETE' },
};

describe.each(platforms().flatMap(platform => INSTALLATIONS.map(how => [platform, how] as const)))(
  'on %s, a global guard (%s)',
  (platform, how) => {
    let test: TestApp;
    beforeAll(async () => {
      test = await start(platform, how);
    });
    afterAll(() => test.close());

    const clientOf = (role: string) => test.client({ headers: { authorization: `Bearer ${role}` } });

    it.each(Object.entries(REQUESTS))('turns %s away from the endpoint', async (_name, init) => {
      const url = await test.url();
      const unknown = await fetch(url, init);
      expect(unknown.status).toBe(401);
      expect(unknown.headers.get('www-authenticate')).toBe('Bearer');
      expect(unknown.headers.get('content-type')).toMatch(/^application\/json/);
      expect(await unknown.json()).toEqual({
        jsonrpc: '2.0',
        error: { code: -32000, message: 'A token is needed' },
        id: null,
      });
      const banned = { ...init, headers: { ...init.headers, authorization: 'Bearer banned' } };
      const forbidden = await fetch(url, banned);
      expect(forbidden.status).toBe(403);
      expect(await forbidden.json()).toMatchObject({
        error: { code: -32000, message: 'Forbidden resource' },
      });
    });

    it('guards REST routes as ever', async () => {
      const get = async (path: string, role?: string) => {
        const headers = role === undefined ? undefined : { authorization: `Bearer ${role}` };
        return (await fetch(await test.url(path), { headers })).status;
      };
      expect(await get('/rest')).toBe(401);
      expect(await get('/rest', 'user')).toBe(200);
      expect(await get('/rest/purge', 'user')).toBe(403);
      expect(await get('/rest/purge', 'admin')).toBe(200);
    });

    it('lets a client in that has a token', async () => {
      const client = await clientOf('user');
      expect((await client.listTools()).tools).toHaveLength(4);
      expect(textOf(await client.callTool({ name: 'greet' }))).toBe('hello');
    });

    it('sees the metadata of handlers, and of their classes', async () => {
      const user = await clientOf('user');
      const forbidden = { code: -32000, message: 'Forbidden resource', data: { statusCode: 403 } };
      for (const name of ['purge', 'shutdown']) {
        await expect(user.callTool({ name })).rejects.toMatchObject(forbidden);
      }
      await expect(user.readResource({ uri: 'keys://all' })).rejects.toMatchObject(forbidden);
      await expect(user.getPrompt({ name: 'report' })).rejects.toMatchObject(forbidden);
      expect(textOf(await user.callTool({ name: 'status' }))).toBe('up');

      const admin = await clientOf('admin');
      expect(textOf(await admin.callTool({ name: 'purge' }))).toBe('purged');
      expect(textOf(await admin.callTool({ name: 'shutdown' }))).toBe('shut down');
      expect((await admin.getPrompt({ name: 'report' })).messages).toHaveLength(1);
    });
  },
);
