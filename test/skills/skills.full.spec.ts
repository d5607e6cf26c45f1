import { createHash } from 'node:crypto';
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Logger } from '@nestjs/common';
import { McpSkills, type McpSkillsOptions } from 'nestjs-mcp/skills';
import type { TestClient } from 'nestjs-mcp/testing';
import { platforms, type TestApp } from '../fixtures/matrix.js';
import { folderOf, head, request, root, start, urisOf } from './folders.js';

const EXTENSION = 'io.modelcontextprotocol/skills';
const PICTURE = Buffer.from([0xff, 0xfe, 0, 1]);

const ORDERS = {
  'orders/SKILL.md': head('orders', 'metadata:\n  version: "2"\n'),
  'orders/references/limits.md': 'At most 5 €',
  'orders/references/a b%.md': 'A name to encode',
  'orders/assets/logo.png': PICTURE,
  'orders/returns/SKILL.md': head('returns'),
  'orders/.git/config': 'secret',
  'billing/SKILL.md': head('billing'),
};

describe.each(platforms())('skills on %s', platform => {
  let app: TestApp;
  beforeAll(async () => {
    app = await start({ dir: folderOf(ORDERS), prefix: 'acme' }, { platform });
  });
  afterAll(() => app.close());

  describe.each(['modern', 'legacy'] as const)('for %s clients', era => {
    let client: TestClient;
    beforeAll(async () => (client = await app.client({ era })));

    it('are declared', () => {
      expect(client.getServerCapabilities()).toMatchObject({
        extensions: { [EXTENSION]: { directoryRead: true } },
        resources: { listChanged: true },
      });
    });

    it('are listed with their heads, the files of an inner one in both', async () => {
      const listing = await client.skills.list();
      expect(listing.skills.map(({ uri, resources }) => [uri, resources.length])).toEqual([
        ['skill://acme/billing/SKILL.md', 1],
        ['skill://acme/orders/SKILL.md', 5],
        ['skill://acme/orders/returns/SKILL.md', 1],
      ]);
      expect(listing.skills[1].frontmatter).toEqual({
        name: 'orders',
        description: 'About orders',
        metadata: { version: '2' },
      });
      const hint =
        era === 'modern' ? { ttlMs: 0, cacheScope: 'private' } : { ttlMs: undefined, cacheScope: undefined };
      expect({ ttlMs: listing.ttlMs, cacheScope: listing.cacheScope }).toEqual(hint);
    });

    it('have each file under its URI, with its digest', async () => {
      const { skill } = await client.skills.get('skill://acme/orders/SKILL.md');
      const read = new Map<string, Buffer>();
      for (const { uri, digest } of skill.resources as { uri: string; digest: string }[]) {
        const { bytes, verified } = await client.skills.read(skill, uri);
        expect(verified).toBe(true);
        expect(`sha256:${createHash('sha256').update(bytes).digest('hex')}`).toBe(digest);
        read.set(uri.replace('skill://acme/', ''), Buffer.from(bytes));
      }
      expect(read).toEqual(
        new Map(
          Object.entries({
            'orders/SKILL.md': Buffer.from(ORDERS['orders/SKILL.md']),
            'orders/assets/logo.png': PICTURE,
            'orders/references/a%20b%25.md': Buffer.from('A name to encode'),
            'orders/references/limits.md': Buffer.from('At most 5 €'),
            'orders/returns/SKILL.md': Buffer.from(ORDERS['orders/returns/SKILL.md']),
          }),
        ),
      );
    });

    it('have their SKILL.md in the list of resources', async () => {
      const { resources } = await client.listResources();
      expect(resources[0]).toEqual({
        uri: 'skill://acme/billing/SKILL.md',
        name: 'billing',
        description: 'About billing',
        mimeType: 'text/markdown',
        size: head('billing').length,
      });
      expect(resources).toHaveLength(3);
    });

    it('have folders, one level at a time', async () => {
      const { resources } = await client.skills.readDirectory('skill://acme/orders');
      expect(resources).toEqual([
        {
          uri: 'skill://acme/orders/SKILL.md',
          name: 'SKILL.md',
          mimeType: 'text/markdown',
          size: expect.any(Number),
        },
        { uri: 'skill://acme/orders/assets', name: 'assets', mimeType: 'inode/directory' },
        { uri: 'skill://acme/orders/references', name: 'references', mimeType: 'inode/directory' },
        { uri: 'skill://acme/orders/returns', name: 'returns', mimeType: 'inode/directory' },
      ]);
      const inner = await client.skills.readDirectory('skill://acme/orders/references');
      expect(inner.resources.map(({ name }) => name)).toEqual(['a b%.md', 'limits.md']);
      const folder = client.readResource({ uri: 'skill://acme/orders/references' });
      await expect(folder).rejects.toMatchObject({ code: -32602 });
    });

    it.each([
      ['skills/get', 'skill://acme/nothing/SKILL.md'],
      ['skills/get', 'skill://acme/orders'],
      ['resources/directory/read', 'skill://acme'],
      ['resources/directory/read', 'skill://acme/orders/'],
      ['resources/directory/read', 'skill://acme/orders/SKILL.md'],
      ['resources/directory/read', 'skill://acme/orders/.git'],
      ['resources/directory/read', 'nothing'],
    ])('%s refuses %s', async (method, uri) => {
      await expect(request(client, method, { uri })).rejects.toMatchObject({ code: -32602 });
    });

    it.each([
      'skill://acme/orders/../billing/SKILL.md',
      'skill://acme/orders/%2e%2e/billing/SKILL.md',
      'skill://acme/orders/..%2fbilling%2fSKILL.md',
      'skill://acme/orders/%00SKILL.md',
      'skill://acme/orders/.git/config',
      'skill://acme/../../../../../../etc/passwd',
      'skill://acme/%2e%2e/%2e%2e/%2e%2e/%2e%2e/etc/passwd',
      'skill:///etc/passwd',
      'skill://acme/orders/nothing.md',
    ])('%s is no file', async uri => {
      for (const method of ['resources/read', 'resources/directory/read', 'skills/get']) {
        await expect(request(client, method, { uri })).rejects.toMatchObject({ code: -32602 });
      }
    });
  });
});

it('lists and folders have pages', async () => {
  const app = await start({ dir: folderOf(ORDERS) }, { mcp: { pageSize: 2 } });
  const client = await app.client();
  const first = await request(client, 'skills/list', {});
  expect(first['skills']).toHaveLength(2);
  expect((await request(client, 'skills/list', { cursor: first['nextCursor'] }))['skills']).toHaveLength(1);
  await expect(request(client, 'skills/list', { cursor: 'nonsense' })).rejects.toMatchObject({
    code: -32602,
  });
  expect((await client.skills.readDirectory('skill://orders')).resources).toHaveLength(4);
  await app.close();
});

describe('a skill that hosts would refuse', () => {
  const CASES: [string, Record<string, string>, RegExp][] = [
    [
      'a capital letter in the name',
      { 'Orders/SKILL.md': head('Orders') },
      /Orders.SKILL\.md: .*name "Orders" must be/,
    ],
    [
      'another name than its folder',
      { 'a/SKILL.md': head('b') },
      /a.SKILL\.md: .*must match the last path segment "a"$/m,
    ],
    ['an anchor in the head', { 'a/SKILL.md': head('a', 'x: &y 1\n') }, /line 4: anchors, aliases and tags/],
    [
      'metadata that is no text',
      { 'a/SKILL.md': head('a', 'metadata:\n  version: 2\n') },
      /metadata must map strings/,
    ],
    ['no head', { 'a/SKILL.md': '# a' }, /must begin with a "---" line/],
    [
      'no description',
      { 'a/SKILL.md': '---\nname: a\n---\n' },
      /must contain string "name" and "description"/,
    ],
    ['no folder', { 'SKILL.md': head('a') }, /point "dir" at the parent folder/],
    [
      'more than 512 files',
      {
        'a/SKILL.md': head('a'),
        ...Object.fromEntries(Array.from({ length: 512 }, (_, n) => [`a/${n}.md`, ''])),
      },
      /513 files .* exceeds the limit of 512 files .*; some hosts refuse it$/m,
    ],
    [
      'more than 16 MiB',
      { 'a/SKILL.md': head('a'), 'a/b.md': 'x'.repeat(2 ** 24) },
      /exceeds the limit of 512 files \/ 16777216 bytes/,
    ],
  ];

  it.each(CASES)('stops the start: %s', async (_, files, message) => {
    const error: Error = await start({ dir: folderOf(files) }).then(
      () => new Error('It has started'),
      (thrown: Error) => thrown,
    );
    expect(error.message).toMatch(message);
    expect(error.message).toMatch(/McpSkillsModule.forRoot\({ dir: /);
    expect(error.message).not.toMatch(/skipped|loadSkills|strict/);
  });

  it.each(CASES.slice(0, 7))('is left out with a warning without strict: %s', async (_, files, message) => {
    const warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation();
    const dir = folderOf({ ...files, 'right/SKILL.md': head('right') });
    const app = await start({ dir, strict: false });
    const client = await app.client();
    expect(urisOf((await client.skills.list()).skills)).toEqual(['skill://right/SKILL.md']);
    expect(warn.mock.calls).toEqual([[expect.stringMatching(message)]]);
    warn.mockRestore();
    await app.close();
  });

  it('stops the start together with the others', async () => {
    const dir = folderOf({ 'A/SKILL.md': head('A'), 'b/SKILL.md': head('c') });
    await expect(start({ dir })).rejects.toThrow(/A.SKILL\.md: [^]*b.SKILL\.md: /);
  });

  it.each<[string, McpSkillsOptions, RegExp]>([
    ['no source', {}, /it has no skills: give "dir", or add a provider/],
    ['a folder that is not there', { dir: join(root, 'none') }, /the folder cannot be read: ENOENT/],
    ['a wrong prefix', { dir: root, prefix: '../a' }, /"prefix" must be names with "\/" between them/],
    ['an unknown option', { dir: root, folder: 'b' } as McpSkillsOptions, /folder/],
    [
      'a public cache of personal lists',
      { dir: root, visible: () => true, cache: { cacheScope: 'public' } },
      /"cache.cacheScope" must be "private"/,
    ],
  ])('as does %s', async (_, options, message) => {
    await expect(start(options)).rejects.toThrow(message);
  });

  it('as does a skill that two folders have', async () => {
    const dir = [folderOf({ 'a/SKILL.md': head('a') }), folderOf({ 'a/SKILL.md': head('a') })];
    await expect(start({ dir })).rejects.toThrow(/two folders of "dir" have the skill skill:\/\/a\/SKILL.md/);
  });
});

describe('symbolic links', () => {
  it('are followed within the folder, as in a ConfigMap', async () => {
    const dir = folderOf({ 'a/..2026/SKILL.md': head('a'), 'a/..2026/more.md': 'more', 'shared/b.md': 'b' });
    symlinkSync('..2026', join(dir, 'a/..data'));
    symlinkSync('..data/SKILL.md', join(dir, 'a/SKILL.md'));
    symlinkSync('..data/more.md', join(dir, 'a/more.md'));
    symlinkSync('../shared', join(dir, 'a/shared'));
    const app = await start({ dir });
    const client = await app.client();
    const { skills } = await client.skills.list();
    expect(urisOf(skills[0].resources as { uri: string }[])).toEqual([
      'skill://a/SKILL.md',
      'skill://a/more.md',
      'skill://a/shared/b.md',
    ]);
    expect((await client.skills.read(skills[0], 'shared/b.md')).text).toBe('b');
    await app.close();
  });

  it.each([
    [
      'a file outside',
      () => join(root, 'secret.md'),
      /secret is not served: it is a link that leaves the folder/,
    ],
    ['a folder outside', () => root, /secret is not served: it is a link that leaves the folder/],
    ['a folder that it is in', () => '..', /secret is not served: it is a link to a folder that it is in/],
    ['nothing', () => 'nowhere', /secret is not served: ENOENT/],
  ])('to %s stop the start', async (_, target, message) => {
    writeFileSync(join(root, 'secret.md'), 'secret');
    const dir = folderOf({ 'a/SKILL.md': head('a') });
    symlinkSync(target(), join(dir, 'a/secret'));
    await expect(start({ dir })).rejects.toThrow(message);
  });

  it('that come later are not read', async () => {
    writeFileSync(join(root, 'secret.md'), 'secret');
    const dir = folderOf({ 'a/SKILL.md': head('a'), 'a/b.md': 'b' });
    const app = await start({ dir });
    const client = await app.client();
    rmSync(join(dir, 'a/b.md'));
    symlinkSync(join(root, 'secret.md'), join(dir, 'a/b.md'));
    await expect(client.readResource({ uri: 'skill://a/b.md' })).rejects.toMatchObject({ code: -32603 });
    await app.close();
  });
});

describe('a changed file', () => {
  const env = process.env['NODE_ENV'];
  afterEach(() => (process.env['NODE_ENV'] = env));

  const changedApp = async (era: 'modern' | 'legacy' = 'modern') => {
    const dir = folderOf({ 'a/SKILL.md': head('a'), 'a/b.md': 'old' });
    const app = await start({ dir });
    const client = await app.client({ era });
    const changed = new Promise<void>(resolve => {
      client.setNotificationHandler('notifications/resources/list_changed', () => resolve());
    });
    return { dir, app, client, changed };
  };

  it('is noticed in development, of which clients are notified', async () => {
    const { dir, app, client, changed } = await changedApp('legacy');
    expect((await client.skills.list()).skills[0].resources).toHaveLength(2);
    writeFileSync(join(dir, 'a/b.md'), 'new text');
    writeFileSync(join(dir, 'a/c.md'), 'another');
    const { skill } = await client.skills.get('skill://a/SKILL.md');
    expect(skill.resources).toHaveLength(3);
    await changed;
    expect((await client.skills.read(skill, 'b.md')).text).toBe('new text');
    await app.close();
  });

  it('with a mistake leaves the earlier skills in development', async () => {
    const { dir, app, client } = await changedApp();
    const warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation();
    writeFileSync(join(dir, 'a/SKILL.md'), 'no head');
    for (let time = 0; time < 2; time++) expect((await client.skills.list()).skills).toHaveLength(1);
    expect(warn.mock.calls).toEqual([[expect.stringMatching(/a.SKILL\.md: .*must begin with a "---" line/)]]);
    warn.mockRestore();
    await app.close();
  });

  it('is not looked for in production, and read all the same', async () => {
    process.env['NODE_ENV'] = 'production';
    const { dir, app, client } = await changedApp();
    const { skill } = await client.skills.get('skill://a/SKILL.md');
    writeFileSync(join(dir, 'a/b.md'), 'new');
    expect((await client.skills.get('skill://a/SKILL.md')).skill).toEqual(skill);
    const { contents } = await client.readResource({ uri: 'skill://a/b.md' });
    expect(contents).toMatchObject([{ text: 'new' }]);
    expect((await client.skills.get('skill://a/SKILL.md')).skill).not.toEqual(skill);
    await app.close();
  });

  it('that is gone is unknown', async () => {
    process.env['NODE_ENV'] = 'production';
    const { dir, app, client } = await changedApp();
    rmSync(join(dir, 'a/b.md'));
    await expect(client.readResource({ uri: 'skill://a/b.md' })).rejects.toMatchObject({ code: -32602 });
    await app.close();
  });

  it('is loaded by McpSkills.reload(), of which clients are notified', async () => {
    process.env['NODE_ENV'] = 'production';
    const { dir, app, client, changed } = await changedApp('legacy');
    mkdirSync(join(dir, 'c'));
    writeFileSync(join(dir, 'c/SKILL.md'), head('c'));
    expect((await client.skills.list()).skills).toHaveLength(1);
    await app.app.get(McpSkills, { strict: false }).reload();
    await changed;
    expect((await client.skills.list()).skills).toHaveLength(2);
    writeFileSync(join(dir, 'c/SKILL.md'), 'no head');
    await expect(app.app.get(McpSkills, { strict: false }).reload()).rejects.toThrow(/c.SKILL\.md/);
    expect((await client.skills.list()).skills).toHaveLength(2);
    await app.close();
  });
});

it('a hidden skill is found by nobody else', async () => {
  const dir = folderOf(ORDERS);
  const app = await start({
    dir,
    visible: ({ frontmatter }, { headers }) =>
      frontmatter.name === 'billing' || headers['x-team'] === 'orders',
  });
  const [client, member] = [await app.client(), await app.client({ headers: { 'x-team': 'orders' } })];
  const seenBy = async (one: TestClient) => ({
    listed: urisOf((await one.skills.list()).skills),
    resources: urisOf((await one.listResources()).resources),
  });
  const all = ['skill://billing/SKILL.md', 'skill://orders/SKILL.md', 'skill://orders/returns/SKILL.md'];
  expect(await seenBy(member)).toEqual({ listed: all, resources: all });
  expect(await seenBy(client)).toEqual({ listed: [all[0]], resources: [all[0]] });
  expect(await request(client, 'resources/list', {})).toMatchObject({ cacheScope: 'private' });
  for (const [method, uri] of [
    ['skills/get', 'skill://orders/SKILL.md'],
    ['resources/read', 'skill://orders/SKILL.md'],
    ['resources/read', 'skill://orders/returns/SKILL.md'],
    ['resources/directory/read', 'skill://orders'],
    ['resources/directory/read', 'skill://orders/returns'],
  ]) {
    await expect(request(client, method, { uri })).rejects.toMatchObject({ code: -32602 });
    await request(member, method, { uri });
  }
  await app.close();
});
