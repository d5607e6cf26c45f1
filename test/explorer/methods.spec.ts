import { UseGuards, type CanActivate } from '@nestjs/common';
import { ExtensionMethod, McpExtension, Visible, type Stages } from 'nestjs-mcp';
import { AllowAnonymous, McpAuthModule, RequireScopes } from 'nestjs-mcp/auth';
import { z } from 'zod';
import { trusting } from '../auth/callers.js';
import { startExplored, type ExploredApp } from './explored-app.js';

const API = '/mcp-explorer/api';

class Never implements CanActivate {
  canActivate() {
    return false;
  }
}

class Always implements CanActivate {
  canActivate() {
    return true;
  }
}

@McpExtension({ id: 'com.acme/search' })
class Search {
  stages(method: string): Stages | undefined {
    return method === 'acme/search' ? { admit: next => next, answer: next => next } : undefined;
  }

  @AllowAnonymous()
  @UseGuards(Always)
  @ExtensionMethod('acme/search', { params: z.object({ query: z.string() }), nameHeader: 'query' })
  search({ query }: { query: string }) {
    return { hits: [query] };
  }

  @AllowAnonymous()
  @ExtensionMethod('acme/declared', { requireClient: true })
  declared() {
    return { done: true };
  }

  @AllowAnonymous()
  @Visible(Never)
  @ExtensionMethod('acme/hidden')
  hidden() {
    return {};
  }

  @RequireScopes('admin')
  @ExtensionMethod('acme/reset')
  reset() {
    return {};
  }

  @AllowAnonymous()
  @ExtensionMethod('acme/old', { eras: ['legacy'] })
  old() {
    return {};
  }
}

describe('methods of extensions', () => {
  let app: ExploredApp;
  beforeAll(async () => {
    const auth = McpAuthModule.forRoot({
      authorizationServers: ['https://login.example.com/'],
      verifier: trusting,
    });
    app = await startExplored([Search, Always, Never], { module: { imports: [auth] } });
  });
  afterAll(() => app.close());

  it('are in the catalogue', async () => {
    const { json } = await app.get(`${API}/catalogue`);
    const { handlers } = json.servers[0];
    expect(handlers).toHaveLength(5);
    expect(handlers[0]).toMatchObject({
      kind: 'method',
      name: 'acme/search',
      className: 'Search',
      methodName: 'search',
      steps: [{ kind: 'guard', name: 'Always', level: 'method' }],
      anonymous: true,
      nameHeader: 'query',
      params: { properties: { query: { type: 'string' } } },
    });
    expect(handlers[2]).toMatchObject({ name: 'acme/hidden', visible: ['Never'] });
    expect(handlers[3]).toMatchObject({ name: 'acme/reset', scopes: ['admin'], anonymous: false });
    expect(handlers[4]).toMatchObject({ name: 'acme/old', eras: ['legacy'] });
  });

  it('are missing for a caller who may not call them, with the reason', async () => {
    const view = async (caller: object, revision: string) => {
      const { json } = await app.post(`${API}/callers`, { server: 'test', caller, revision });
      const [{ method, entries, missing }] = json.lists;
      expect(method).toBe('extension methods');
      return {
        entries: entries.map(({ name }: { name: string }) => name),
        missing: missing.map(({ name, by, why }: Record<string, string>) => [name, by, why].join(': ')),
      };
    };
    const hidden = 'acme/hidden: guard: @Visible hides it';
    expect(await view({ kind: 'anonymous' }, '2026-07-28')).toEqual({
      entries: ['acme/search', 'acme/declared'],
      missing: [hidden, 'acme/reset: token: It needs a token'],
    });
    expect(await view({ kind: 'synthetic', scopes: ['other'], roles: [] }, '2025-11-25')).toEqual({
      entries: ['acme/search', 'acme/declared', 'acme/old'],
      missing: [hidden, 'acme/reset: scope: The caller lacks the scope admin'],
    });
    expect(await view({ kind: 'synthetic', scopes: ['admin'], roles: [] }, '2026-07-28')).toEqual({
      entries: ['acme/search', 'acme/declared', 'acme/reset'],
      missing: [hidden],
    });
  });

  it('can be called after a confirmation, by a client that declares the extension', async () => {
    const call = (method: string, params: object, confirmed = true) =>
      app.post(`${API}/call`, { server: 'test', caller: { kind: 'anonymous' }, method, params, confirmed });
    expect((await call('acme/search', { query: 'lamp' }, false)).status).toBe(409);
    const { json } = await call('acme/search', { query: 'lamp' });
    expect(json).toMatchObject({ outcome: 'result', result: { value: { hits: ['lamp'] } } });
    const declared = await call('acme/declared', {});
    expect(declared.json).toMatchObject({ outcome: 'result', result: { value: { done: true } } });
    expect((await call('acme/none', {})).status).toBe(400);
  });

  it('show the stages of the extensions of the application', async () => {
    const { json } = await app.get(`${API}/chain`);
    const eras = ['legacy', 'modern'];
    const { stages } = json.servers[0];
    expect(stages.filter(({ method }: { method: string }) => method === 'acme/search')).toEqual([
      { method: 'acme/search', place: 'admit', extension: 'Search', eras },
      { method: 'acme/search', place: 'answer', extension: 'Search', eras },
    ]);
  });
});

it('a caller who may call nothing is refused', async () => {
  @McpExtension()
  class Admin {
    @RequireScopes('admin')
    @ExtensionMethod('acme/reset')
    reset() {
      return {};
    }
  }
  const auth = McpAuthModule.forRoot({
    authorizationServers: ['https://login.example.com/'],
    verifier: trusting,
  });
  const app = await startExplored([Admin], { module: { imports: [auth] } });
  const body = { server: 'test', caller: { kind: 'anonymous' } };
  expect((await app.post(`${API}/callers`, body)).json).toEqual({
    refused: expect.stringContaining('token') as string,
    lists: [],
  });
  await app.close();
});

it('a request of a synthetic caller is no request of a client', async () => {
  @McpExtension()
  class Status {
    @ExtensionMethod('acme/status')
    status() {
      return {};
    }
  }
  const app = await startExplored([Status]);
  await app.post(`${API}/callers`, { server: 'test', caller: { kind: 'synthetic', scopes: [], roles: [] } });
  expect((await app.get(`${API}/live`)).json).toMatchObject({ calls: [], total: 0 });
  await app.close();
});
