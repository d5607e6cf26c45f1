import {
  Inject,
  Injectable,
  NotFoundException,
  Scope,
  UseGuards,
  type CanActivate,
  type ExecutionContext,
  type Type,
} from '@nestjs/common';
import { REQUEST } from '@nestjs/core';
import {
  McpContext,
  Mutator,
  Resource,
  Validator,
  Visible,
  type InterceptorInvocation,
  type McpModuleOptions,
} from 'nestjs-mcp';
import { McpAuthModule, RequireScopes } from 'nestjs-mcp/auth';
import { McpSkills, skillEntry, type McpSkillsOptions, SkillSource } from 'nestjs-mcp/skills';
import { MemoryMessageBus, type TestClient } from 'nestjs-mcp/testing';
import { bearer, trusting } from '../auth/callers.js';
import { Inbox } from '../fixtures/inbox.js';
import { anyPlatform, startApp, type TestApp } from '../fixtures/matrix.js';
import { folderOf, head, request, start, urisOf } from './folders.js';

const TEAM = 'skill://team/refunds/SKILL.md';
const FILES = { 'SKILL.md': head('refunds'), 'references/limits.md': 'At most 5 €' };

/** Serves one skill, and another that it does not list. */
@SkillSource()
class Refunds implements SkillSource {
  async list() {
    return [await skillEntry('team/refunds', FILES)];
  }

  get(uri: string) {
    if (uri === TEAM) return skillEntry('team/refunds', FILES);
    return uri === 'skill://team/secret/SKILL.md'
      ? skillEntry('team/secret', { 'SKILL.md': head('secret') })
      : undefined;
  }

  read(uri: string) {
    if (uri === 'skill://team/secret/SKILL.md') return head('secret');
    return FILES[uri.replace('skill://team/refunds/', '') as keyof typeof FILES] as string | undefined;
  }
}

class TeamGuard implements CanActivate {
  canActivate(context: ExecutionContext) {
    return context.switchToRpc().getContext<McpContext>().headers['x-team'] === 'yes';
  }
}

const auth = () =>
  McpAuthModule.forRoot({
    authorizationServers: ['https://login.example'],
    verifier: trusting,
    lists: 'allowed',
  });

/** What a caller finds of the skill of `Refunds`, and of its files. */
async function foundBy(client: TestClient): Promise<unknown> {
  const isFound = (method: string, uri: string) =>
    request(client, method, { uri }).then(
      () => true,
      (error: { code: number }) => error.code !== -32602 && error.code,
    );
  return [
    urisOf((await request(client, 'skills/list'))['skills']).includes(TEAM),
    urisOf((await request(client, 'resources/list'))['resources']).includes(TEAM),
    await isFound('skills/get', TEAM),
    await isFound('resources/read', TEAM),
    await isFound('resources/directory/read', 'skill://team/refunds'),
  ];
}

const ALL = [true, true, true, true, true];
const NOTHING = [false, false, false, false, false];

describe.each(anyPlatform())('a source of skills on %s', platform => {
  const apps: TestApp[] = [];
  afterEach(() => Promise.all(apps.splice(0).map(app => app.close())));
  const started = async (
    source: Type,
    { options = {}, mcp = {}, imports = [] as object[], providers = [] as Type[] } = {},
  ) => {
    const all: McpSkillsOptions = options;
    const more = { platform, mcp, module: { imports: imports as never } };
    const app = await start(all, more, [source, ...providers]);
    apps.push(app);
    return app;
  };

  it.each(['modern', 'legacy'] as const)('serves %s clients beside a folder', async era => {
    const dir = folderOf({ 'orders/SKILL.md': head('orders') });
    const client = await (await started(Refunds, { options: { dir } })).client({ era });
    const { skills } = await client.skills.list();
    expect(urisOf(skills)).toEqual(['skill://orders/SKILL.md', TEAM]);
    const { bytes, verified } = await client.skills.read(skills[1], 'references/limits.md');
    expect([Buffer.from(bytes).toString(), verified]).toEqual(['At most 5 €', true]);
    const { resources } = await client.skills.readDirectory('skill://team/refunds');
    expect(resources.map(({ name }) => name)).toEqual(['SKILL.md', 'references']);
    expect(await foundBy(client)).toEqual(ALL);
  });

  it('serves a skill that it does not list', async () => {
    const client = await (await started(Refunds)).client();
    const { skill } = await client.skills.get('skill://team/secret/SKILL.md');
    expect((await client.skills.read(skill)).verified).toBe(true);
    const { resources } = await client.skills.readDirectory('skill://team/secret');
    expect(urisOf(resources)).toEqual(['skill://team/secret/SKILL.md']);
  });

  it('serves a skill without digests', async () => {
    @SkillSource()
    class News implements SkillSource {
      list() {
        const frontmatter = { name: 'news', description: 'About news' };
        return [{ uri: 'skill://news/SKILL.md', frontmatter, resources: 'dynamic' as const }];
      }
      read(uri: string) {
        return uri.endsWith('/SKILL.md') ? head('news') : Buffer.from([0xff, 1]);
      }
      readDirectory(uri: string) {
        return uri === 'skill://news' ? [{ uri: 'skill://news/a.png', name: 'a.png' }] : undefined;
      }
    }
    const client = await (await started(News)).client();
    const [skill] = (await client.skills.list()).skills;
    expect(await client.skills.read(skill)).toMatchObject({ verified: false, text: head('news') });
    expect((await client.readResource({ uri: 'skill://news/a.png' })).contents).toEqual([
      { uri: 'skill://news/a.png', mimeType: 'image/png', blob: '/wE=' },
    ]);
    expect(urisOf((await client.skills.readDirectory('skill://news')).resources)).toEqual([
      'skill://news/a.png',
    ]);
    const { resources } = await client.listResources();
    expect(resources).toEqual([
      {
        uri: 'skill://news/SKILL.md',
        name: 'news',
        description: 'About news',
        mimeType: 'text/markdown',
      },
    ]);
  });

  it('knows its caller, also in request scope', async () => {
    @SkillSource()
    @Injectable({ scope: Scope.REQUEST })
    class Own implements SkillSource {
      constructor(@Inject(REQUEST) private readonly request: { headers: Record<string, string> }) {}
      async list(ctx: McpContext) {
        const name = this.request.headers['x-name'];
        expect(ctx.headers['x-name']).toBe(name);
        return [await skillEntry(name, { 'SKILL.md': head(name) })];
      }
      read(_uri: string, { headers }: McpContext) {
        return head(String(headers['x-name']));
      }
    }
    const app = await started(Own);
    for (const name of ['ada', 'bob']) {
      const client = await app.client({ headers: { 'x-name': name } });
      const [skill] = (await client.skills.list()).skills;
      expect((await client.skills.read(skill)).text).toBe(head(name));
      expect(await request(client, 'resources/list')).toMatchObject({ cacheScope: 'private' });
    }
  });

  const decorated: [string, ClassDecorator][] = [
    ['a guard', UseGuards(TeamGuard)],
    ['@Visible', Visible(TeamGuard)],
  ];

  it.each(decorated)('is hidden from callers by %s', async (_, decorate) => {
    @SkillSource()
    @decorate
    class Team extends Refunds {}
    const app = await started(Team);
    expect(await foundBy(await app.client({ headers: { 'x-team': 'yes' } }))).toEqual(ALL);
    expect(await foundBy(await app.client())).toEqual(NOTHING);
  });

  @SkillSource()
  @RequireScopes('team')
  class ScopedClass extends Refunds {}

  @SkillSource()
  class ScopedMethod extends Refunds {
    @RequireScopes('team')
    override read(uri: string) {
      return super.read(uri);
    }
  }

  it.each([ScopedClass, ScopedMethod])('is hidden from callers without its scopes: %p', async source => {
    const app = await started(source, { imports: [auth()] });
    expect(await foundBy(await app.client({ headers: bearer('ada', 'team') }))).toEqual(ALL);
    expect(await foundBy(await app.client({ headers: bearer('ada') }))).toEqual(NOTHING);
  });

  it('with scopes needs a module that checks tokens', async () => {
    await expect(started(ScopedClass)).rejects.toThrow(
      /ScopedClass: it has @RequireScopes\(\), but no module checks/,
    );
  });

  it('all skills can need scopes', async () => {
    const app = await started(Refunds, { options: { scopes: ['skills'] }, imports: [auth()] });
    expect(await foundBy(await app.client({ headers: bearer('ada', 'skills') }))).toEqual(ALL);
    const client = await app.client({ headers: bearer('ada') });
    expect((await client.listResources()).resources).toEqual([]);
    for (const method of ['skills/list', 'skills/get', 'resources/read', 'resources/directory/read']) {
      await expect(request(client, method, { uri: TEAM })).rejects.toThrow(/skills|403|scope/i);
    }
  });

  it('is asked after the folder, and its errors are not told', async () => {
    @SkillSource()
    class Broken implements SkillSource {
      list(): never {
        throw new Error('the database is down');
      }
      get(): never {
        throw new NotFoundException();
      }
      read(uri: string): string {
        if (uri === TEAM) throw new NotFoundException();
        throw new Error('the database is down');
      }
    }
    const client = await (await started(Broken)).client();
    await expect(client.skills.list()).rejects.toMatchObject({
      code: -32603,
      message: expect.stringMatching(/Internal error \(reference/),
    });
    await expect(client.readResource({ uri: 'skill://a' })).rejects.toMatchObject({ code: -32603 });
    await expect(client.readResource({ uri: TEAM })).rejects.toMatchObject({ code: -32602 });
    await expect(client.skills.get(TEAM)).rejects.toMatchObject({ code: -32602 });
  });

  it('needs "list" and "read"', async () => {
    @SkillSource()
    class Half {
      list() {
        return [];
      }
    }
    await expect(started(Half)).rejects.toThrow(
      /Half: it has @SkillSource\(\), so it needs the function "read"/,
    );
  });

  it('needs a private cache', async () => {
    const options = { cache: { cacheScope: 'public' as const } };
    await expect(started(Refunds, { options })).rejects.toThrow(/"cache.cacheScope" must be "private"/);
  });

  it('serves the server that it names', async () => {
    @SkillSource({ server: 'other' })
    class Other extends Refunds {}
    const dir = folderOf({ 'orders/SKILL.md': head('orders') });
    const client = await (await started(Other, { options: { dir } })).client();
    expect(urisOf((await client.skills.list()).skills)).toEqual(['skill://orders/SKILL.md']);
  });

  it('passes interceptors, which see each request and its result', async () => {
    const seen: string[] = [];
    @Injectable()
    class Watch {
      @Validator({ events: ['skills/*', 'resources/*'], phase: 'both' })
      watch({ event, phase, payload }: InterceptorInvocation) {
        seen.push(`${phase} ${event}`);
        return (payload as { uri?: string }).uri === 'skill://team/refused/SKILL.md'
          ? { valid: false, messages: [{ severity: 'error' as const, message: 'Not this one' }] }
          : { valid: true };
      }

      @Mutator({ events: ['skills/list'], phase: 'response' })
      rename({ payload }: InterceptorInvocation) {
        return { ...(payload as object), renamed: true };
      }
    }
    const app = await started(Refunds, { providers: [Watch] });
    const client = await app.client();
    expect(await request(client, 'skills/list')).toMatchObject({ renamed: true });
    await request(client, 'skills/get', { uri: TEAM });
    await request(client, 'resources/read', { uri: TEAM });
    await request(client, 'resources/directory/read', { uri: 'skill://team/refunds' });
    const passed = ['skills/list', 'skills/get', 'resources/read', 'resources/directory/read'];
    expect(seen).toEqual(passed.flatMap(event => [`request ${event}`, `response ${event}`]));
    await expect(request(client, 'skills/get', { uri: 'skill://team/refused/SKILL.md' })).rejects.toThrow(
      /validation failed/,
    );
  });
});

it('a reload reaches the clients of other nodes', async () => {
  const bus = new MemoryMessageBus();
  const mcp: Partial<McpModuleOptions> = { bus };
  const dir = folderOf({ 'orders/SKILL.md': head('orders') });
  const [one, other] = [await start({ dir }, { mcp }), await start({ dir }, { mcp })];
  const changes = new Inbox<string>();
  const client = await other.client();
  client.setNotificationHandler('notifications/resources/list_changed', () => changes.put('changed'));
  await client.listen({ resourcesListChanged: true });
  await one.app.get(McpSkills, { strict: false }).reload();
  expect(await changes.take()).toBe('changed');
  await Promise.all([one.close(), other.close()]);
});

it('the skills stand after the resources of handlers', async () => {
  class Handlers {
    @Resource({ uri: 'config://app' })
    config() {
      return 'on';
    }
    @Resource({ uri: 'config://other' })
    other() {
      return 'on';
    }
  }
  const dir = folderOf({ 'orders/SKILL.md': head('orders') });
  const app = await start({ dir }, { mcp: { pageSize: 1 } }, [Handlers]);
  const { resources } = await (await app.client()).listResources();
  expect(urisOf(resources)).toEqual(['config://app', 'config://other', 'skill://orders/SKILL.md']);
  await app.close();
});

it('a server without the module has none', async () => {
  const app = await startApp([]);
  const client = await app.client();
  expect(client.skills).toBeUndefined();
  await expect(request(client, 'skills/list')).rejects.toThrow(/Method not found|not found|404/i);
  await app.close();
});
