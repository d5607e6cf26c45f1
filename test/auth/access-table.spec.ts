import { ForbiddenException, Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import {
  Args,
  Completion,
  McpExecutionContext,
  McpServerRegistry,
  Prompt,
  Resource,
  ResourceTemplate,
  Tool,
  Visible,
} from 'nestjs-mcp';
import { AllowAnonymous, McpAuthModule, RequireScopes } from 'nestjs-mcp/auth';
import { cells, startApp, type TestApp } from '../fixtures/matrix.js';
import { bearer, trusting } from './callers.js';
import { ask, listenHeaders, listenMessage, openSession, type RawReply } from './raw-caller.js';

/** Shows things to Grace only, and counts how often it is asked about each handler in one request. */
@Injectable()
class GraceOnly implements CanActivate {
  static readonly asked: string[] = [];

  canActivate(context: ExecutionContext): boolean {
    const { authInfo, method } = McpExecutionContext.create(context).getContext();
    GraceOnly.asked.push(`${method} ${context.getHandler().name}`);
    return authInfo?.extra?.['sub'] === 'grace';
  }
}

@Injectable()
class ByException implements CanActivate {
  async canActivate(context: ExecutionContext): Promise<boolean> {
    const { authInfo } = McpExecutionContext.create(context).getContext();
    if (authInfo?.extra?.['sub'] !== 'grace') throw new ForbiddenException('Only Grace');
    return true;
  }
}

const ECHO = { type: 'object', properties: { text: { type: 'string' } } } as const;

@Injectable()
class Handlers {
  @AllowAnonymous()
  @Tool()
  open() {
    return 'open';
  }

  @Tool()
  member() {
    return 'member';
  }

  @RequireScopes('orders:read', 'orders:write')
  @Tool({ inputSchema: ECHO })
  scoped(@Args() args: object) {
    return JSON.stringify(args);
  }

  @Visible(GraceOnly)
  @RequireScopes('secret')
  @Tool()
  hidden() {
    return 'hidden';
  }

  @Visible(ByException)
  @AllowAnonymous()
  @Prompt({ argsSchema: ECHO })
  hiddenPrompt() {
    return 'prompt';
  }

  @Completion({ prompt: 'hiddenPrompt', argument: 'text' })
  completeHidden() {
    return ['a'];
  }

  @RequireScopes('prompts')
  @Prompt({ argsSchema: ECHO })
  scopedPrompt() {
    return 'prompt';
  }

  @AllowAnonymous()
  @Completion({ prompt: 'scopedPrompt', argument: 'text' })
  completeScoped() {
    return ['b'];
  }
}

@Visible(GraceOnly)
@Injectable()
class HiddenResources {
  @Resource({ uri: 'hidden://one' })
  hiddenResource() {
    return 'resource';
  }

  @ResourceTemplate({ uriTemplate: 'hidden://{id}/x' })
  hiddenTemplate() {
    return 'template';
  }
}

@RequireScopes('files')
@Injectable()
class ScopedResources {
  @Resource({ uri: 'scoped://one' })
  scopedResource() {
    return 'resource';
  }

  @ResourceTemplate({ uriTemplate: 'scoped://{id}/x' })
  scopedTemplate() {
    return 'template';
  }
}

type Headers = Record<string, string>;

const METADATA = 'resource_metadata="https://shop.example/.well-known/oauth-protected-resource/mcp"';
const LOG_IN = `Bearer ${METADATA}`;
const STEP_UP = (scope: string) => `Bearer error="insufficient_scope", scope="${scope}", ${METADATA}`;
const FIRST = (scope: string) => `Bearer scope="${scope}", ${METADATA}`;

const ANYBODY: Headers = {};
const ADA = bearer('ada');
const GRACE = bearer('grace');

describe.each(cells())('$name', ({ platform, era, legacy }) => {
  let app: TestApp;
  let url: string;

  beforeAll(async () => {
    const added = () => 'added';
    RequireScopes('added')(added);
    const addedHidden = () => 'added';
    Visible(GraceOnly)(addedHidden);
    app = await startApp([Handlers, HiddenResources, ScopedResources], {
      platform,
      mcp: { legacy, cache: { 'tools/list': { ttlMs: 60_000, cacheScope: 'public' } } },
      module: {
        imports: [
          McpAuthModule.forRoot({
            resource: 'https://shop.example/mcp',
            authorizationServers: ['https://login.example'],
            lists: 'allowed',
            impliedScopes: { 'orders:admin': ['orders:write'], 'orders:write': ['orders:read'] },
            verifier: trusting,
          }),
        ],
      },
    });
    const registry = app.app.get(McpServerRegistry);
    await registry.add('tool', { name: 'added' }, added);
    await registry.add('tool', { name: 'addedHidden' }, addedHidden);
    await registry.add('tool', { name: 'addedSeen', visible: [GraceOnly] }, () => 'added');
    url = await app.url();
  });

  afterAll(() => app.close());

  /** Asks on a connection of the caller's own. */
  const send = async (
    headers: Headers,
    method: string,
    params?: Record<string, unknown>,
  ): Promise<RawReply> => {
    const session = era === 'legacy' && legacy === 'sessions' ? await openSession(url, headers) : undefined;
    return ask({ url, era, headers, session }, method, params);
  };

  const listed = async (headers: Headers, list: string, member: string) => {
    const { result } = await send(headers, list);
    return (result?.[member] as { name: string }[]).map(({ name }) => name);
  };

  describe('lists show what a caller may use', () => {
    it.each([
      ['an anonymous one', ANYBODY, ['open']],
      ['one without scopes', ADA, ['open', 'member']],
      ['one with some of the scopes', bearer('ada', 'orders:read'), ['open', 'member']],
      ['one with all', bearer('ada', 'orders:read', 'orders:write'), ['open', 'member', 'scoped']],
      ['one with a broader scope', bearer('ada', 'orders:admin'), ['open', 'member', 'scoped']],
      ['one whom a guard shows more', GRACE, ['open', 'member', 'addedHidden', 'addedSeen']],
      ['one with both', bearer('grace', 'secret'), ['open', 'member', 'hidden', 'addedHidden', 'addedSeen']],
      ['one with the scope of what was added', bearer('ada', 'added'), ['open', 'member', 'added']],
    ])('%s: tools', async (_who, headers, names) => {
      expect(await listed(headers, 'tools/list', 'tools')).toEqual(names);
    });

    it.each([
      ['prompts/list', 'prompts', bearer('ada', 'prompts'), ['scopedPrompt']],
      ['prompts/list', 'prompts', GRACE, ['hiddenPrompt']],
      ['resources/list', 'resources', bearer('ada', 'files'), ['scopedResource']],
      ['resources/list', 'resources', GRACE, ['hiddenResource']],
      ['resources/templates/list', 'resourceTemplates', bearer('ada', 'files'), ['scopedTemplate']],
      ['resources/templates/list', 'resourceTemplates', GRACE, ['hiddenTemplate']],
      ['resources/list', 'resources', ANYBODY, []],
    ])('%s', async (list, member, headers, names) => {
      expect(await listed(headers, list, member)).toEqual(names);
    });

    if (era === 'modern') {
      it('and are private, whatever the server says of its lists', async () => {
        const { result } = await send(ADA, 'tools/list');
        expect(result).toMatchObject({ cacheScope: 'private', ttlMs: 60_000 });
      });
    } else {
      it('and have nothing that this revision does not know', async () => {
        expect((await send(ADA, 'tools/list')).result).toEqual({ tools: expect.any(Array) });
      });
    }
  });

  describe('a call', () => {
    const tool = (name: string) => ['tools/call', { name, arguments: {} }] as const;
    const completion = (prompt: string) =>
      [
        'completion/complete',
        { ref: { type: 'ref/prompt', name: prompt }, argument: { name: 'text', value: '' } },
      ] as const;

    it.each([
      ['what needs no token', ANYBODY, tool('open')],
      ['what needs a token', ADA, tool('member')],
      ['what its scopes admit', bearer('ada', 'orders:read', 'orders:write'), tool('scoped')],
      ['what a broader scope admits', bearer('ada', 'orders:admin'), tool('scoped')],
      ['what a guard shows', bearer('grace', 'secret'), tool('hidden')],
      ['what was added', bearer('ada', 'added'), tool('added')],
      ['what was added and a guard shows', GRACE, tool('addedSeen')],
      ['a prompt that a guard shows', GRACE, ['prompts/get', { name: 'hiddenPrompt' }] as const],
      [
        'a resource that its scopes admit',
        bearer('ada', 'files'),
        ['resources/read', { uri: 'scoped://one' }] as const,
      ],
      ['a template that a guard shows', GRACE, ['resources/read', { uri: 'hidden://1/x' }] as const],
      ['a completion that a guard shows', GRACE, completion('hiddenPrompt')],
      ['a completion that its scopes admit', bearer('ada', 'prompts'), completion('scopedPrompt')],
    ])('is answered: %s', async (_what, headers, [method, params]) => {
      const reply = await send(headers, method, params);
      expect(reply).toMatchObject({ status: 200, result: expect.any(Object) });
      expect(reply.result).not.toHaveProperty('isError');
    });

    it.each([
      ['what needs a token', ANYBODY, tool('member'), LOG_IN],
      ['what needs scopes', ANYBODY, tool('scoped'), FIRST('orders:read orders:write')],
      ['what was added', ANYBODY, tool('added'), FIRST('added')],
      [
        'a resource with scopes',
        ANYBODY,
        ['resources/read', { uri: 'scoped://one' }] as const,
        FIRST('files'),
      ],
      [
        'a template with scopes',
        ANYBODY,
        ['resources/read', { uri: 'scoped://1/x' }] as const,
        FIRST('files'),
      ],
      ['a completion', ANYBODY, completion('scopedPrompt'), FIRST('prompts')],
    ])('starts a login, if anonymous: %s', async (_what, headers, [method, params], challenge) => {
      expect(await send(headers, method, params)).toMatchObject({
        status: 401,
        challenge,
        error: { code: -32000 },
      });
    });

    it.each([
      ['a tool', bearer('ada', 'orders:read'), tool('scoped'), 'orders:read orders:write'],
      ['a tool that was added', ADA, tool('added'), 'added'],
      ['a tool that a guard shows', GRACE, tool('hidden'), 'secret'],
      ['a prompt', ADA, ['prompts/get', { name: 'scopedPrompt' }] as const, 'prompts'],
      ['a resource', ADA, ['resources/read', { uri: 'scoped://one' }] as const, 'files'],
      ['a template', ADA, ['resources/read', { uri: 'scoped://1/x' }] as const, 'files'],
      ['a completion', ADA, completion('scopedPrompt'), 'prompts'],
    ])('is told all scopes that it lacks: %s', async (_what, headers, [method, params], scope) => {
      expect(await send(headers, method, params)).toMatchObject({
        status: 403,
        challenge: STEP_UP(scope),
        error: { code: -32000, message: 'Forbidden: the access token lacks a scope' },
      });
    });

    it.each([
      ['a tool', ADA, tool('hidden'), tool('absent')],
      ['a tool, if anonymous', ANYBODY, tool('hidden'), tool('absent')],
      ['a tool, with its scope', bearer('ada', 'secret'), tool('hidden'), tool('absent')],
      ['a tool that was added', ADA, tool('addedHidden'), tool('absent')],
      ['a tool that was added with an option', ADA, tool('addedSeen'), tool('absent')],
      [
        'a prompt',
        ADA,
        ['prompts/get', { name: 'hiddenPrompt' }] as const,
        ['prompts/get', { name: 'absent' }] as const,
      ],
      [
        'a resource',
        ADA,
        ['resources/read', { uri: 'hidden://one' }] as const,
        ['resources/read', { uri: 'absent://one' }] as const,
      ],
      [
        'a template',
        ADA,
        ['resources/read', { uri: 'hidden://1/x' }] as const,
        ['resources/read', { uri: 'absent://1/x' }] as const,
      ],
      ['a completion', ADA, completion('hiddenPrompt'), completion('absent')],
    ])(
      'of what is hidden is answered like one of what is not there: %s',
      async (_what, headers, hidden, absent) => {
        const normal = async ([method, params]: readonly [string, Record<string, unknown>]) => {
          const text = JSON.stringify(await send(headers, method, params));
          return text
            .replace(/(hiddenPrompt|hidden|addedHidden|addedSeen|absent)\b/g, '…')
            .replace(/"session":[^,]*/, '');
        };
        expect(await normal(hidden)).toBe(await normal(absent));
      },
    );
  });

  it('a guard is asked once for each handler and request', async () => {
    GraceOnly.asked.splice(0);
    await send(bearer('grace', 'secret'), 'tools/call', { name: 'hidden' });
    expect(GraceOnly.asked).toEqual(['tools/call hidden']);
    GraceOnly.asked.splice(0);
    await send(GRACE, 'resources/list');
    expect(GraceOnly.asked).toEqual(['resources/list hiddenResource']);
  });

  if (era === 'legacy' && legacy === 'sessions') {
    it.each([
      ['scoped://one', ADA, 403, STEP_UP('files')],
      ['scoped://one', ANYBODY, 401, FIRST('files')],
      ['scoped://one', bearer('ada', 'files'), 200, null],
      ['hidden://one', GRACE, 200, null],
    ])('a subscription to %s', async (uri, headers, status, challenge) => {
      expect(await send(headers, 'resources/subscribe', { uri })).toMatchObject({ status, challenge });
    });

    it('the end of a subscription needs no scope', async () => {
      const ended = await send(ADA, 'resources/unsubscribe', { uri: 'scoped://one' });
      expect(ended).toMatchObject({ status: 200, challenge: null, result: {} });
    });

    it('a subscription to what is hidden is one to what is not there', async () => {
      const { error } = await send(ADA, 'resources/subscribe', { uri: 'hidden://one' });
      expect(error).toEqual({ code: -32002, message: expect.any(String), data: { uri: 'hidden://one' } });
    });

    it('a list of calls of which one is refused has the status of the refusal', async () => {
      const session = await openSession(url, ADA);
      const call = (id: number, name: string) => ({
        jsonrpc: '2.0',
        id,
        method: 'tools/call',
        params: { name },
      });
      const response = await fetch(url, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          'mcp-session-id': session,
          ...ADA,
        },
        body: JSON.stringify([call(1, 'scoped'), call(2, 'member')]),
      });
      expect([response.status, response.headers.get('www-authenticate')]).toEqual([
        403,
        STEP_UP('orders:read orders:write'),
      ]);
    });
  }

  if (era === 'modern') {
    const listen = (headers: Headers, uri: string) =>
      fetch(url, {
        method: 'POST',
        signal: AbortSignal.timeout(20_000),
        headers: listenHeaders(headers),
        body: JSON.stringify(listenMessage({ resourceSubscriptions: [uri] })),
      });

    it.each([
      ['scoped://one', ADA, 403, STEP_UP('files')],
      ['scoped://one', ANYBODY, 401, FIRST('files')],
      ['scoped://one', bearer('ada', 'files'), 200, null],
      ['hidden://one', GRACE, 200, null],
    ])('a subscription to %s', async (uri, headers, status, challenge) => {
      const response = await listen(headers, uri);
      await response.body?.cancel();
      expect([response.status, response.headers.get('www-authenticate')]).toEqual([status, challenge]);
    });

    it('a subscription to what is hidden is one to what is not there', async () => {
      const texts = ['hidden://one', 'absent://one'].map(async uri => {
        const response = await listen(ADA, uri);
        return (await response.text()).replaceAll(uri, '…');
      });
      const [hidden, absent] = await Promise.all(texts);
      expect(hidden).toBe(absent);
    });
  }
});
