import { Injectable } from '@nestjs/common';
import { Completion, Prompt, Resource, Tool } from 'nestjs-mcp';
import { McpAuthModule, RequireScopes } from 'nestjs-mcp/auth';
import { startApp, type TestApp } from '../fixtures/matrix.js';
import { SESSION_HEADERS } from '../fixtures/raw-session.js';
import { bearer, trusting } from './callers.js';
import { ask } from './raw-caller.js';

const ARGUMENTS = { type: 'object', properties: { city: { type: 'string' } } } as const;

@Injectable()
class Handlers {
  @RequireScopes('a')
  @Tool()
  one() {
    return 'one';
  }

  @RequireScopes('b')
  @Tool()
  other() {
    return 'other';
  }

  @RequireScopes('a')
  @Resource({ uri: 'state://a' })
  a() {
    return 'a';
  }

  @RequireScopes('b', 'c')
  @Resource({ uri: 'state://b' })
  b() {
    return 'b';
  }

  @RequireScopes('a')
  @Prompt({ argsSchema: ARGUMENTS })
  travel() {
    return 'Travel';
  }

  @RequireScopes('b')
  @Completion({ prompt: 'travel', argument: 'city' })
  cities() {
    return ['Berlin'];
  }
}

describe('a challenge names all scopes of', () => {
  let app: TestApp;
  let url: string;

  beforeAll(async () => {
    app = await startApp([Handlers], {
      mcp: { legacy: 'stateless' },
      module: {
        imports: [
          McpAuthModule.forRoot({ authorizationServers: ['https://login.example'], verifier: trusting }),
        ],
      },
    });
    url = await app.url();
  });

  afterAll(() => app.close());

  const scopeIn = (challenge: string | null) => /scope="([^"]*)"/.exec(challenge ?? '')?.[1];
  const asked = async (scopes: string[], method: string, params: object) => {
    const headers = bearer('ada', ...scopes);
    const { status, challenge } = await ask({ url, era: 'modern', headers }, method, { ...params });
    return [status, scopeIn(challenge)];
  };

  it.each([[[]], [['a']], [['b', 'c']]])('subscriptions/listen, for a caller with %j', async scopes => {
    const notifications = { resourceSubscriptions: ['state://a', 'state://none', 'state://b'] };
    expect(await asked(scopes, 'subscriptions/listen', { notifications })).toEqual([403, 'a b c']);
  });

  it.each([[[]], [['a']], [['b']]])('completion/complete, for a caller with %j', async scopes => {
    const params = { ref: { type: 'ref/prompt', name: 'travel' }, argument: { name: 'city', value: '' } };
    expect(await asked(scopes, 'completion/complete', params)).toEqual([403, 'a b']);
  });

  it.each([[[]], [['a']], [['b']]])('a batch, for a caller with %j', async scopes => {
    const batch = ['one', 'other'].map((name, id) => ({
      jsonrpc: '2.0',
      id,
      method: 'tools/call',
      params: { name },
    }));
    const headers = { ...SESSION_HEADERS, ...bearer('ada', ...scopes), 'mcp-protocol-version': '2025-03-26' };
    const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(batch) });
    expect([answer.status, scopeIn(answer.headers.get('www-authenticate'))]).toEqual([403, 'a b']);
  });
});
