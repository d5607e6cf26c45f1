import {
  Inject,
  Injectable,
  Scope,
  UseGuards,
  type CanActivate,
  type ExecutionContext,
} from '@nestjs/common';
import { ProtocolError } from '@modelcontextprotocol/client';
import { IsInt, IsString, Min } from 'class-validator';
import {
  Args,
  Ctx,
  ExtensionMethod,
  McpContext,
  McpException,
  McpExtension,
  McpModule,
  Resource,
  Tool,
  Validator,
  Visible,
  allow,
  type Answer,
  type InterceptorInvocation,
  type Stages,
} from 'nestjs-mcp';
import { AllowAnonymous, McpAuthModule, RequireScopes } from 'nestjs-mcp/auth';
import { z } from 'zod';
import { bearer, trusting } from '../auth/callers.js';
import { connect, ERAS, startGateway } from '../gateway/support.js';
import { anyPlatform, cells, startApp, type TestApp } from '../fixtures/matrix.js';

class SearchDto {
  @IsString()
  query!: string;

  @IsInt()
  @Min(1)
  limit = 10;
}

@Injectable()
class Index {
  find(query: string, limit: number) {
    return [`${query} 1`, `${query} 2`].slice(0, limit);
  }
}

@Injectable()
class OnlyLocal implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    return context.getHandler().name !== 'secret';
  }
}

@Injectable()
class Nobody implements CanActivate {
  canActivate(): boolean {
    return false;
  }
}

const ANY = z.looseObject({});

@McpExtension({ id: 'com.acme/search', settings: { languages: ['en'] } })
class Search {
  constructor(@Inject(Index) private readonly index: Index) {}

  @ExtensionMethod('acme/search')
  search(@Args() { query, limit }: SearchDto) {
    return { hits: this.index.find(query, limit) };
  }

  @ExtensionMethod('acme/modern', { eras: ['modern'], result: z.object({ ok: z.boolean() }) })
  modern() {
    return { ok: true };
  }

  @ExtensionMethod('acme/broken', { result: z.object({ ok: z.boolean() }) })
  broken() {
    return { ok: 'secret' };
  }

  @ExtensionMethod('acme/strict', { result: z.object({ ok: z.boolean(), at: z.string() }) })
  strict() {
    return { ok: true, at: new Date(0), password: 'secret' };
  }

  @ExtensionMethod('acme/any', { params: { type: 'object' } })
  any(data: object) {
    return { isAdmin: 'admin' in Object.assign({}, data) };
  }

  /** Deletes what its user has agreed to. */
  @ExtensionMethod('acme/delete', { params: z.object({ id: z.int() }) })
  async delete({ id }: { id: number }, ctx: McpContext) {
    const schema = { type: 'object', properties: { sure: { type: 'boolean' } } } as const;
    await ctx.elicit('sure', { message: 'Delete it?', schema });
    return { deleted: id };
  }

  @ExtensionMethod('acme/text')
  text() {
    return 'text';
  }

  @UseGuards(OnlyLocal)
  @ExtensionMethod('acme/secret')
  secret() {
    return {};
  }

  @Visible(Nobody)
  @ExtensionMethod('acme/hidden')
  hidden() {
    return {};
  }

  @ExtensionMethod('acme/ask')
  async ask(@Ctx() ctx: McpContext) {
    const schema = { type: 'object', properties: { name: { type: 'string' } } } as const;
    const { content } = await ctx.elicit('name', { message: 'Who?', schema });
    return { name: content?.['name'] };
  }

  @ExtensionMethod('acme/declared', { requireClient: true })
  declared() {
    return {};
  }

  @ExtensionMethod('acme/named', { nameHeader: 'id', params: z.object({ id: z.string() }) })
  named({ id }: { id: string }) {
    return { id };
  }

  @Tool()
  hello() {
    return 'hello';
  }
}

const codeOf = (error: unknown) => (error as ProtocolError).code;

describe.each(cells())('an extension of the application on $name', ({ platform, era, legacy }) => {
  let app: TestApp;
  const request = async (method: string, params: Record<string, unknown> = {}) =>
    (await app.client({ era })).request({ method, params }, ANY);

  beforeAll(async () => {
    app = await startApp([Search, Index], { platform, mcp: { legacy } });
  });
  afterAll(() => app.close());

  it('answers its method, with dependencies and a DTO', async () => {
    expect(await request('acme/search', { query: 'tea', limit: 1 })).toMatchObject({ hits: ['tea 1'] });
  });

  it('refuses params that break their schema', async () => {
    const refused = await request('acme/search', { query: 'tea', limit: 0 }).catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: -32602, message: expect.stringContaining('limit') });
  });

  it('is in the capabilities, with its settings', async () => {
    const client = await app.client({ era });
    expect(client.getServerCapabilities()?.extensions).toEqual({ 'com.acme/search': { languages: ['en'] } });
  });

  it('serves a method only in its eras', async () => {
    const answer = request('acme/modern').catch(codeOf);
    if (era === 'modern') expect(await answer).toMatchObject({ ok: true });
    else expect(await answer).toBe(-32601);
  });

  it.each(['acme/broken', 'acme/text'])('answers %s with an error that reveals nothing', async method => {
    const failed = await request(method).catch((error: unknown) => error);
    expect(failed).toMatchObject({ code: -32603, message: expect.not.stringContaining('secret') });
  });

  it('sends what the schema of the result leaves, as JSON', async () => {
    const { ok, at, password } = await request('acme/strict');
    expect({ ok, at, password }).toEqual({ ok: true, at: '1970-01-01T00:00:00.000Z', password: undefined });
  });

  it('refuses params with too many values', async () => {
    const values = Array.from({ length: 20_000 }, () => 0);
    expect(await request('acme/any', { values }).catch(codeOf)).toBe(-32602);
  });

  it('runs guards, and hides what @Visible hides', async () => {
    expect(await request('acme/secret').catch(codeOf)).toBe(-32000);
    const unknown = await request('acme/unknown').catch(codeOf);
    expect(await request('acme/hidden').catch(codeOf)).toBe(unknown);
  });

  it('refuses a client that has not declared the extension', async () => {
    const refused = await request('acme/declared').catch((error: unknown) => error);
    expect(refused).toMatchObject({
      code: -32021,
      data: { requiredCapabilities: { extensions: { 'com.acme/search': {} } } },
    });
  });

  it('does not disturb other handlers of its class', async () => {
    const client = await app.client({ era });
    expect(await client.callTool({ name: 'hello' })).toMatchObject({ content: [{ text: 'hello' }] });
  });
});

describe.each(ERAS)('an extension and its client (%s)', era => {
  let app: TestApp;

  beforeAll(async () => {
    app = await startApp([Search, Index], { platform: anyPlatform()[0] });
  });
  afterAll(() => app.close());

  it('asks the client', async () => {
    const client = await connect(await app.url(), era, {
      capabilities: { elicitation: { form: {} } },
      prepare: one =>
        one.setRequestHandler('elicitation/create', () => ({ action: 'accept', content: { name: 'Ada' } })),
    });
    expect(await client.request({ method: 'acme/ask', params: {} }, ANY)).toMatchObject({ name: 'Ada' });
    await client.close();
  });

  it('serves a client that declares it', async () => {
    const client = await connect(await app.url(), era, {
      capabilities: { extensions: { 'com.acme/search': {} } },
    });
    expect(await client.request({ method: 'acme/declared', params: {} }, ANY)).toBeDefined();
    await client.close();
  });
});

/** Sends a request of 2026-07-28 as it is written. */
async function post(url: string, method: string, params: string, headers: Record<string, string> = {}) {
  const meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } },
  };
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': method,
      ...headers,
    },
    body: `{"jsonrpc":"2.0","id":1,"method":"${method}","params":{${params && `${params},`}"_meta":${JSON.stringify(meta)}}}`,
  });
  return { status: response.status, body: (await response.json()) as { result: Record<string, unknown> } };
}

describe('a request of 2026-07-28 for a method of an extension', () => {
  let app: TestApp;
  let url: string;

  beforeAll(async () => {
    app = await startApp([Search, Index], { platform: anyPlatform()[0] });
    url = await app.url();
  });
  afterAll(() => app.close());

  it('has the Mcp-Name header that the method names', async () => {
    const send = (headers: Record<string, string>) => post(url, 'acme/named', '"id":"a"', headers);
    expect(await send({ 'mcp-name': 'a' })).toMatchObject({ status: 200, body: { result: { id: 'a' } } });
    for (const wrong of [{}, { 'mcp-name': 'b' }] as Record<string, string>[]) {
      expect(await send(wrong)).toMatchObject({ status: 400, body: { error: { code: -32020 } } });
    }
  });

  it('is as unknown as any other if @Visible hides the method', async () => {
    const hidden = await post(url, 'acme/hidden', '');
    expect(hidden).toMatchObject({ status: 404, body: { error: { code: -32601 } } });
    expect(hidden.status).toBe((await post(url, 'acme/unknown', '')).status);
  });

  it('does not change the prototype of its params', async () => {
    const { body } = await post(url, 'acme/any', '"__proto__":{"admin":true}');
    expect(body.result).toMatchObject({ isAdmin: false });
  });

  it('cannot use the consent to other params', async () => {
    const { body } = await post(url, 'acme/delete', '"id":1');
    const requestState = body.result['requestState'] as string;
    const answer = `"requestState":"${requestState}","inputResponses":{"sure":{"action":"accept","content":{"sure":true}}}`;
    expect(await post(url, 'acme/delete', `"id":2,${answer}`)).toMatchObject({
      body: { error: { code: -32602 } },
    });
    expect(await post(url, 'acme/delete', `"id":1,${answer}`)).toMatchObject({
      body: { result: { deleted: 1 } },
    });
  });
});

describe('an extension with a stage', () => {
  /** Two calls of tools for each tenant. */
  @McpExtension()
  class Quota {
    private readonly left = new Map<unknown, number>();

    stages(method: string): Stages | undefined {
      if (method !== 'tools/call') return undefined;
      return {
        admit:
          (next: Answer): Answer =>
          (call, params) => {
            const tenant = call.http?.headers['x-tenant'];
            const left = this.left.get(tenant) ?? 2;
            if (left === 0) throw new McpException(-32000, 'The quota is used up');
            this.left.set(tenant, left - 1);
            return next(call, params);
          },
      };
    }
  }

  it('counts the calls of each tenant, and clients do not learn of it', async () => {
    @Injectable()
    class Tools {
      @Tool()
      hello() {
        return 'hello';
      }
    }
    const app = await startApp([Quota, Tools]);
    const of = (tenant: string) => app.client({ headers: { 'x-tenant': tenant } });
    const [one, other] = [await of('one'), await of('other')];
    const call = (client: typeof one) => client.callTool({ name: 'hello' }).then(() => 'served', codeOf);
    expect([await call(one), await call(one), await call(one), await call(other)]).toEqual([
      'served',
      'served',
      -32000,
      'served',
    ]);
    expect(one.getServerCapabilities()?.extensions).toBeUndefined();
    await app.close();
  });
});

it('a stage refuses a stream of subscriptions', async () => {
  @McpExtension()
  class NoStreams {
    stages(method: string): Stages | undefined {
      if (method !== 'subscriptions/listen') return undefined;
      return {
        admit: (): Answer => () => {
          throw new McpException(-32000, 'No streams here');
        },
      };
    }
  }

  @Injectable()
  class Prices {
    @Resource({ uri: 'price://tea' })
    tea() {
      return '3';
    }
  }
  const app = await startApp([NoStreams, Prices]);
  const client = await app.client();
  await expect(client.listen({ resourceSubscriptions: ['price://tea'] })).rejects.toThrow('No streams here');
  await app.close();
});

it.each(ERAS)('the questions of a method pass the interceptors (%s)', async era => {
  const asked: unknown[] = [];
  @Injectable()
  class Watch {
    @Validator({ events: ['elicitation/create'] })
    watch({ payload }: InterceptorInvocation) {
      asked.push((payload as { message: string }).message);
      return allow();
    }
  }
  const app = await startApp([Search, Index, Watch]);
  const client = await app.client({ era, onElicit: () => ({ action: 'accept', content: { name: 'Ada' } }) });
  expect(await client.request({ method: 'acme/ask', params: {} }, ANY)).toMatchObject({ name: 'Ada' });
  expect(asked).toEqual(['Who?']);
  await app.close();
});

it('a class of forFeature extends the servers that it names', async () => {
  @McpExtension()
  class Admin {
    @ExtensionMethod('acme/admin')
    admin() {
      return {};
    }
  }
  const app = await startApp([Admin], {
    module: {
      imports: [
        McpModule.forRoot({ name: 'admin', version: '1.0.0', http: { path: '/admin' } }),
        McpModule.forFeature([Admin], { server: 'admin' }),
      ],
    },
  });
  const ask = async (server: string) =>
    (await app.client({ server })).request({ method: 'acme/admin', params: {} }, ANY).then(
      () => 'served',
      () => 'refused',
    );
  expect([await ask('admin'), await ask('test')]).toEqual(['served', 'refused']);
  await app.close();
});

describe('an extension and logins', () => {
  @McpExtension({ id: 'com.acme/admin' })
  class Admin {
    @RequireScopes('admin')
    @ExtensionMethod('acme/reset')
    reset() {
      return { done: true };
    }

    @AllowAnonymous()
    @ExtensionMethod('acme/status')
    status() {
      return { up: true };
    }

    @ExtensionMethod('acme/own')
    own() {
      return { own: true };
    }
  }

  @Injectable()
  class Tools {
    @Tool()
    hello() {
      return 'hello';
    }
  }

  it.each(ERAS)('needs the scopes of its methods (%s)', async era => {
    const app = await startApp([Admin, Tools], {
      module: {
        imports: [
          McpAuthModule.forRoot({
            authorizationServers: ['https://login.example.com/'],
            verifier: trusting,
            lists: 'allowed',
          }),
        ],
      },
    });
    const as = (...scope: string[]) =>
      app.client({ era, headers: scope.length === 0 ? {} : bearer('ann', ...scope) });
    const ask = async (method: string, ...scope: string[]) =>
      (await as(...scope)).request({ method, params: {} }, ANY).then(
        () => 'served',
        () => 'refused',
      );
    expect(await ask('acme/reset', 'admin')).toBe('served');
    expect(await ask('acme/reset', 'other')).toBe('refused');
    expect(await ask('acme/reset')).toBe('refused');
    expect(await ask('acme/status')).toBe('served');
    expect(await ask('acme/own')).toBe('refused');
    expect(await ask('acme/own', 'other')).toBe('served');
    // Anonymous callers are served, but do not learn of tools that need a login.
    expect((await (await as()).listTools()).tools).toEqual([]);
    await app.close();
  });
});

describe('a gateway with an anonymous method', () => {
  @McpExtension()
  class Status {
    @AllowAnonymous()
    @ExtensionMethod('acme/status')
    status() {
      return { up: true };
    }
  }

  it('does not show its backend to anonymous callers', async () => {
    @Injectable()
    class Tools {
      @Tool()
      hello() {
        return 'hello';
      }
    }
    const backend = await startApp([Tools]);
    const auth = McpAuthModule.forRoot({
      authorizationServers: ['https://login.example.com/'],
      verifier: trusting,
      lists: 'allowed',
    });
    const gateway = await startGateway({ path: '/mcp', backend: { url: await backend.url() } }, [Status], 0, [
      auth,
    ]);
    const anonymous = await connect(gateway.url, 'modern');
    expect(await anonymous.request({ method: 'acme/status', params: {} }, ANY)).toMatchObject({ up: true });
    expect((await anonymous.listTools()).tools).toEqual([]);
    await expect(anonymous.callTool({ name: 'hello' })).rejects.toThrow();
    await anonymous.close();
    await gateway.app.close();
    await backend.close();
  });
});

it.each(['admit', 'intercept', 'answer'] as const)(
  'a stage at "%s" that changes the name does not open a tool',
  async place => {
    @McpExtension()
    class Redirect {
      stages(method: string): Stages | undefined {
        if (method !== 'tools/call') return undefined;
        return {
          [place]:
            (next: Answer): Answer =>
            (call, params) =>
              next(call, { ...params, name: 'danger' }),
        };
      }
    }

    @Injectable()
    class Tools {
      @Tool()
      hello() {
        return 'hello';
      }

      @RequireScopes('admin')
      @Tool()
      danger() {
        return 'danger';
      }
    }
    const app = await startApp([Redirect, Tools], {
      module: {
        imports: [
          McpAuthModule.forRoot({ authorizationServers: ['https://login.example.com/'], verifier: trusting }),
        ],
      },
    });
    const client = await app.client({ headers: bearer('ann', 'other') });
    await expect(client.callTool({ name: 'hello' })).rejects.toThrow();
    await app.close();
  },
);

describe('mistakes stop the start', () => {
  class NoExtension {
    @ExtensionMethod('acme/a')
    a() {
      return {};
    }
  }

  @McpExtension({ id: 'search' })
  class NoPrefix {}

  @McpExtension()
  class Twice {
    @ExtensionMethod('acme/a')
    a() {
      return {};
    }

    @ExtensionMethod('acme/a')
    b() {
      return {};
    }
  }

  @McpExtension()
  class Reserved {
    @ExtensionMethod('tools/call')
    a() {
      return {};
    }
  }

  @McpExtension()
  class Untyped {
    @ExtensionMethod('acme/a')
    a(params: object) {
      return params;
    }
  }

  @McpExtension()
  class Undeclarable {
    @ExtensionMethod('acme/a', { requireClient: true })
    a() {
      return {};
    }
  }

  @McpExtension({ server: 'shop' })
  class NoServer {}

  @Injectable({ scope: Scope.REQUEST })
  @McpExtension()
  class Scoped {
    stages() {
      return undefined;
    }
  }

  @McpExtension()
  class Unprotected {
    @RequireScopes('admin')
    @ExtensionMethod('acme/reset')
    reset() {
      return {};
    }
  }

  @McpExtension()
  class NoStages {
    async stages() {
      return undefined;
    }
  }

  @McpExtension()
  class OwnStages {
    @ExtensionMethod('acme/stages')
    stages() {
      return undefined;
    }
  }

  @McpExtension()
  class NoEra {
    @ExtensionMethod('acme/a', { eras: [] })
    a() {
      return {};
    }
  }

  @McpExtension({ id: 'com.acme/a', settings: { big: 1n } })
  class NoJson {}

  @McpExtension({ nid: 'com.acme/a' } as never)
  class Misspelt {}

  @McpExtension()
  class MisspeltMethod {
    @ExtensionMethod('acme/a', { era: ['modern'] } as never)
    a() {
      return {};
    }
  }

  it.each([
    [Misspelt, 'Misspelt: unknown option "nid"; known are id, settings, server; did you mean "id"?'],
    [MisspeltMethod, 'MisspeltMethod.a: unknown option "era"; known are params, result, eras, '],
    [Unprotected, 'Unprotected.reset: it has @RequireScopes(), but no module checks the tokens'],
    [NoStages, 'NoStages.stages: it must return undefined, or an object'],
    [OwnStages, '"stages" is the function of an extension'],
    [NoEra, '"eras" is a list of'],
    [NoJson, 'its "settings" are no JSON'],
    [NoExtension, 'NoExtension: it has @ExtensionMethod() methods, so it needs @McpExtension()'],
    [NoPrefix, 'the id "search" has no prefix'],
    [Twice, 'two methods answer "acme/a"'],
    [Reserved, '"tools/call" belongs to the protocol'],
    [Untyped, 'declare "params"'],
    [Undeclarable, '"requireClient" of "acme/a" needs an "id"'],
    [NoServer, 'the MCP server "shop" does not exist'],
    [Scoped, 'needs the default scope'],
  ])('%p', async (type, sentence) => {
    await expect(startApp([type])).rejects.toThrow(sentence);
  });

  it('two extensions have one id', async () => {
    @McpExtension({ id: 'com.acme/search' })
    class First {}

    @McpExtension({ id: 'com.acme/search', server: 'test' })
    class Second {}
    await expect(startApp([First, Second])).rejects.toThrow(
      '@McpExtension({ server: "test" }) of Second: @McpExtension() of First has the id "com.acme/search", too',
    );
  });

  it('an extension has the id of the interceptors', async () => {
    @McpExtension({ id: 'io.modelcontextprotocol/interceptors' })
    class Own {}
    await expect(startApp([Own], { mcp: { interceptors: { expose: true } } })).rejects.toThrow(
      'McpModule.forRoot({ name: "test" }): @McpExtension() of Own has the id',
    );
  });

  it('one error names the mistakes of all extensions', async () => {
    @McpExtension({ server: 'admin' })
    class NoAdmin {}
    await expect(startApp([NoServer, NoAdmin])).rejects.toThrow(
      /the MCP server "shop" does not exist[^]*the MCP server "admin" does not exist/,
    );
  });
});
