import { Injectable, UseGuards } from '@nestjs/common';
import { AllowAnonymous, McpAuthModule, RequireScopes, type McpAuthOptions } from 'nestjs-mcp/auth';
import { Args, Mutator, Tool, Validator } from 'nestjs-mcp';
import { bearer, tokenOf, trusting } from '../auth/callers.js';
import { RolesGuard, startExplored, type ExploredApp } from './explored-app.js';

const API = '/mcp-explorer/api';
const FINE = { description: 'Does it', annotations: { readOnlyHint: true } };

const schemaOf = (more: object) => ({
  ...FINE,
  inputSchema: { type: 'object' as const, ...more },
});

@Injectable()
class Tools {
  @Tool(FINE)
  @UseGuards(RolesGuard)
  fine() {
    return '';
  }

  @Tool({ annotations: {} })
  @UseGuards(RolesGuard)
  silent() {
    return '';
  }

  @Tool({ ...FINE, description: 'x'.repeat(1025) })
  @UseGuards(RolesGuard)
  long() {
    return '';
  }

  @Tool({ ...FINE, name: 'shop.search' })
  @UseGuards(RolesGuard)
  dotted() {
    return '';
  }

  @Tool({ description: 'Deletes' })
  @UseGuards(RolesGuard)
  bare() {
    return '';
  }

  @Tool(FINE)
  open() {
    return '';
  }

  @Tool(schemaOf({ anyOf: [{ required: ['a'] }], properties: { a: { type: ['string', 'null'] } } }))
  @UseGuards(RolesGuard)
  schemas(@Args() args: unknown) {
    return String(args);
  }

  @Tool(
    schemaOf({
      properties: { list: { type: 'array', prefixItems: [{}] }, 'ä b': { $ref: '#/$defs/x' } },
      $defs: { x: {} },
    }),
  )
  @UseGuards(RolesGuard)
  references(@Args() args: unknown) {
    return String(args);
  }

  @Validator({ name: 'typo', events: ['tool/call'] })
  typo() {
    return true;
  }

  @Mutator({ name: 'never', events: ['initialize'] })
  never() {
    return undefined;
  }
}

it('tells likely mistakes, each with a remedy', async () => {
  const app = await startExplored([Tools]);
  const { json } = await app.get(`${API}/findings`);
  const found = json.findings.map(({ rule, subject, message }: Record<string, string>) => [
    rule,
    subject,
    message,
  ]);
  expect(found).toEqual([
    ['no-description', 'silent', 'The tool has no description'],
    ['long-description', 'long', 'The description has 1025 characters; some hosts cut it after 1024'],
    ['name', 'shop.search', 'Some hosts reject the name'],
    ['no-annotations', 'bare', 'The tool has no annotations, so hosts take it for destructive'],
    ['unguarded', 'open', expect.stringContaining('has no guard')],
    ['schema', 'schemas', 'Some hosts reject "anyOf" at the top of the input schema'],
    ['schema', 'schemas', 'Some hosts reject a list of types at /a'],
    ['schema', 'references', 'Some hosts reject "prefixItems" at /list'],
    ['schema', 'references', 'Some hosts reject the property name "ä b"'],
    ['schema', 'references', 'Some hosts reject "$ref" at /ä b'],
    ['hook-never-matches', 'typo', expect.stringContaining('did you mean tools/call?')],
    ['hook-never-matches', 'never', expect.stringContaining('which is never intercepted')],
  ]);
  expect(json.findings.every(({ remedy }: { remedy: string }) => remedy.endsWith('.'))).toBe(true);
  await app.close();
});

it('finds hooks that never match, as overrides leave them', async () => {
  const hooking = (name: string, events: string[], phase: 'request' | 'response' = 'request') => {
    class Rules {
      @Validator({ name, events, phase })
      check() {
        return true;
      }
    }
    return Rules;
  };
  const never = [
    'initialize',
    'ping',
    'server/discover',
    'notifications/cancelled',
    'interceptors/list',
    'interceptors/*',
    'interceptor/invoke',
    'interceptors/invoke',
    'logging/setLevel',
  ];
  const app = await startExplored(
    [
      hooking('never', never),
      hooking('misspelt', ['tools/cal', 'tool/call']),
      hooking('listen', ['subscriptions/listen']),
      hooking('told', ['notifications/progress', 'notifications/message']),
      hooking('answers', ['notifications/progress'], 'response'),
      hooking('own', ['server/start', 'notification/sent', 'subscriptions/renewed', 'custom/event']),
      hooking('wide', ['notifications/*', '*']),
      hooking('narrowed', ['tools/*']),
    ],
    {
      mcp: {
        interceptors: { overrides: { narrowed: { hooks: [{ events: ['tools/cal'], phase: 'request' }] } } },
      },
    },
  );
  const { json } = await app.get(`${API}/findings`);
  expect(json.findings.map(({ message }: { message: string }) => message.split(';')[0])).toEqual([
    ...never.map(event => `never hooks ${event}, which is never intercepted`),
    'misspelt hooks tools/cal, which never happens',
    'misspelt hooks tool/call, which is not an event of the protocol',
    'listen hooks subscriptions/listen, which is never intercepted',
    'answers hooks notifications/progress in the response phase, which never happens',
    'narrowed hooks tools/cal, which never happens',
  ]);
  await app.close();
});

@Injectable()
class Desk {
  @Tool(FINE)
  @RequireScopes('orders:read', 'orders:write')
  order() {
    return 'ordered';
  }

  @Tool(FINE)
  mine() {
    return 'mine';
  }
}

@Injectable()
class Lobby {
  @Tool(FINE)
  @AllowAnonymous()
  hello() {
    return 'hello';
  }
}

const auth = (options: Partial<McpAuthOptions> = {}) =>
  McpAuthModule.forRoot({ authorizationServers: ['https://login.example'], verifier: trusting, ...options });

describe('with nestjs-mcp/auth', () => {
  const asking = (app: ExploredApp) => async (caller: object) =>
    (await app.post(`${API}/callers`, { server: 'test', caller })).json;

  it('names the scopes that a caller neither has nor can get by a login', async () => {
    const imports = [auth({ scopesSupported: ['orders:read'] })];
    const app = await startExplored([Desk, Lobby], { module: { imports } });
    const ask = asking(app);
    for (const caller of [{ kind: 'anonymous' }, { kind: 'token', token: tokenOf('ada', 'orders:read') }]) {
      const [tools] = (await ask(caller)).lists;
      expect(tools.entries.map(({ name }: { name: string }) => name)).toEqual(['mine', 'hello']);
      expect(tools.missing).toMatchObject([
        {
          name: 'order',
          by: 'scope',
          names: ['orders:write'],
          why: 'The caller lacks the scope orders:write, which "scopesSupported" of McpAuthModule does not name',
        },
      ]);
    }
    const writer = await ask({ kind: 'synthetic', scopes: ['orders:write'], roles: [] });
    expect(writer.lists[0].missing).toEqual([]);
    await app.close();
  });

  it('tells the lists of a token, and the scopes that it lacks', async () => {
    const app = await startExplored([Desk, Lobby], { module: { imports: [auth({ lists: 'allowed' })] } });
    const ask = asking(app);
    const reader = await ask({ kind: 'token', token: tokenOf('ada', 'orders:read') });
    expect(reader.caller).toEqual({ name: 'ada', scopes: ['orders:read'], roles: [] });
    expect(reader.lists[0].entries.map(({ name }: { name: string }) => name)).toEqual(['mine', 'hello']);
    expect(reader.lists[0].missing).toEqual([
      {
        kind: 'tool',
        name: 'order',
        by: 'scope',
        names: ['orders:write'],
        why: 'The caller lacks the scope orders:write',
      },
    ]);
    const anonymous = await ask({ kind: 'anonymous' });
    expect(anonymous.lists[0].missing.map(({ name, by }: Record<string, string>) => [name, by])).toEqual([
      ['order', 'token'],
      ['mine', 'token'],
    ]);
    const synthetic = await ask({ kind: 'synthetic', scopes: ['orders:read', 'orders:write'], roles: [] });
    expect(synthetic.lists[0].missing).toEqual([]);
    const wrong = await ask({ kind: 'token', token: 'not-a-token' });
    expect(wrong).toEqual({ refused: expect.stringContaining('token'), lists: [] });
    await app.close();
  });

  it('does not call a tool unguarded that needs a login', async () => {
    const app = await startExplored([Desk, Lobby], { module: { imports: [auth()] } });
    const { json } = await app.get(`${API}/findings`);
    expect(json.findings).toEqual([]);
    await app.close();
  });

  it('says that a caller without a token is turned away', async () => {
    const app = await startExplored([Desk], { module: { imports: [auth()] } });
    const caller = { kind: 'anonymous' };
    const { json } = await app.post(`${API}/callers`, { server: 'test', caller });
    expect(json).toEqual({ refused: expect.stringContaining('token'), lists: [] });
    const { json: catalogue } = await app.get(`${API}/catalogue`);
    expect(catalogue.servers[0].handlers[0]).toMatchObject({
      scopes: ['orders:read', 'orders:write'],
      anonymous: false,
    });
    const client = await app.client({ headers: bearer('ada') });
    await expect(client.callTool({ name: 'order' })).rejects.toThrow();
    const { json: live } = await app.get(`${API}/live`);
    expect(live.calls[0]).toMatchObject({ name: 'order', outcome: 'refused', code: -32000 });
    await app.close();
  });
});
