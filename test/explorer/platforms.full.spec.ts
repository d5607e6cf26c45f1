import { Injectable, SetMetadata, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { APP_GUARD, Reflector } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { Args, Tool } from 'nestjs-mcp';
import { startExplored, type ExploredApp } from './explored-app.js';

@Injectable()
class Sizes {
  @Tool({ annotations: { readOnlyHint: true } })
  size(@Args('text') text: string) {
    return String(text.length);
  }
}

const Public = () => SetMetadata('isPublic', true);

/** Admits nobody, except to what is public. */
@Injectable()
class LoginGuard implements CanActivate {
  constructor(private readonly reflector: Reflector) {}

  canActivate(context: ExecutionContext): boolean {
    return this.reflector.getAllAndOverride('isPublic', [context.getHandler(), context.getClass()]) === true;
  }
}

describe.each([
  ['Express', () => new ExpressAdapter()],
  ['Fastify', () => new FastifyAdapter()],
  [
    'Fastify that ignores slashes',
    () => new FastifyAdapter({ routerOptions: { ignoreTrailingSlash: true } } as object),
  ],
] as const)('on %s', (_name, adapter) => {
  let app: ExploredApp;

  beforeAll(async () => {
    app = await startExplored([Sizes], { adapter: adapter() });
    await app.url();
  });
  afterAll(() => app.close());

  it.each(['/mcp-explorer', '/mcp-explorer/'])('%s is or leads to the page', async path => {
    const { status, headers, text } = await app.get(path);
    const page =
      status === 308
        ? await app.get(new URL(String(headers['location']), `http://x${path}`).pathname)
        : { text };
    expect(page.text).toContain('<title>MCP explorer</title>');
  });

  it('takes arguments of half a megabyte', async () => {
    const text = 'a'.repeat(512 * 1024);
    const { status, json } = await app.post('/mcp-explorer/api/call', {
      server: 'test',
      caller: { kind: 'anonymous' },
      method: 'tools/call',
      params: { name: 'size', arguments: { text } },
    });
    expect([status, json.result?.value.content]).toEqual([
      200,
      [{ type: 'text', text: String(text.length) }],
    ]);
  });

  it.each(['/mcp-explorer', '/mcp-explorer/', '/mcp-explorer/index.html', '/mcp-explorer/api/live'])(
    'the guards of the explorer decide on %s',
    async path => {
      const refusing = { canActivate: () => false };
      const guarded = await startExplored([Sizes], { adapter: adapter(), explorer: { guards: [refusing] } });
      await guarded.url();
      expect((await guarded.get(path)).status).toBe(403);
      await guarded.close();
    },
  );

  it('a global guard decides on it, unless a decorator exempts it', async () => {
    const provider = { provide: APP_GUARD, useClass: LoginGuard };
    const statuses = [];
    for (const decorators of [[], [Public()]]) {
      const options = { adapter: adapter(), explorer: { decorators }, module: { providers: [provider] } };
      const guarded = await startExplored([Sizes], options);
      await guarded.url();
      for (const path of ['/mcp-explorer/', '/mcp-explorer/api/live', '/mcp']) {
        statuses.push((await guarded.get(path)).status);
      }
      await guarded.close();
    }
    expect(statuses).toEqual([403, 403, 403, 200, 200, 403]);
  });

  it('has no page below the page', async () => {
    expect((await app.get('/mcp-explorer/a/b')).status).toBe(404);
  });
});
