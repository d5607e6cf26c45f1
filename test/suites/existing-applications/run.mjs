// Makes MCP servers of two public applications: see README.md.
import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { BOILERPLATE, REALWORLD } from './applications.mjs';
import { caller, check, counts, start } from './drive.mjs';
import { prepare } from './prepare.mjs';

const [realworld, boilerplate] = process.argv.slice(2);
if (!boilerplate) throw new Error('Pass the checkouts of both applications: see README.md');

const root = join(import.meta.dirname, '../../..');
const packed = args =>
  execFileSync('npm', args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
packed(['run', 'build']);
const [{ filename }] = JSON.parse(packed(['pack', '--json', '--pack-destination', tmpdir()]));
const tarball = join(tmpdir(), filename);

await run(REALWORLD, realworld, driveRealworld);
await run(BOILERPLATE, boilerplate, driveBoilerplate);
console.log(`\n${counts.passed} passed, ${counts.failed} failed`);
process.exit(counts.failed > 0 ? 1 : 0);

async function run(application, checkout, drive) {
  const folder = prepare(checkout, application, tarball);
  try {
    for (const revision of ['2026-07-28', '2025-11-25']) {
      console.log(`\n${application.name}, ${revision}`);
      const app = await start(folder);
      for (const line of app.lines)
        if (/Left out/.test(line)) console.log(`  ${line.replace(/^.*Left out/, 'left out')}`);
      await drive(app.url, revision);
      app.stop();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A login in middleware, which Nest binds to some routes of a controller. */
async function driveRealworld(url, revision) {
  const way = { endpoint: '/api/mcp', api: '/api', scheme: 'Token', revision };
  const nobody = await caller(url, way);
  const { tools } = await nobody.client.listTools();
  check('tools', tools.length, 16);
  check('a description', tools.find(({ name }) => name === 'article_create')?.description, 'Create article');

  const user = { username: 'ada', email: 'ada@example.com', password: 'pw' };
  check('sign up', (await nobody.tool('user_create', { user })).user.username, 'ada');
  await nobody.rest('POST', '/users', {
    user: { username: 'bob', email: 'bob@example.com', password: 'pw' },
  });
  const login = await nobody.tool('user_login', { user: { email: user.email, password: 'pw' } });
  const ada = await caller(url, way, login.user.token);

  const wrong = { user: { email: user.email, password: 'no' } };
  check(
    'a wrong password',
    await nobody.tool('user_login', wrong),
    await nobody.rest('POST', '/users/login', wrong),
  );
  const empty = { user: { email: '', password: '' } };
  check('no password', (await nobody.tool('user_login', empty)).error, /password/);
  check('me, without a login', await nobody.tool('user_find_me'), await nobody.rest('GET', '/user'));
  check('me, by email', (await ada.tool('user_find_me')).user.email, user.email);
  check(
    'with a token that is none',
    await (await caller(url, way, 'x')).tool('user_find_me'),
    /Internal server error/,
  );

  const article = { title: 'Hello', description: 'About', body: 'Text', tagList: ['greeting'] };
  const byMcp = await nobody.tool('article_create', { article });
  check('an article, without a login', byMcp, await nobody.rest('POST', '/articles', { article }));
  const { slug } = await ada.tool('article_create', { article });
  check(
    'an article',
    await nobody.tool('article_find_one', { slug }),
    await nobody.rest('GET', `/articles/${slug}`),
  );
  const change = { slug, article: { ...article, body: 'New' } };
  check('its change, without a login', await nobody.tool('article_update', change), {
    error: 'Not authorized.',
  });
  check('its change', (await ada.tool('article_update', change)).article.body, 'New');
  check('a slug with a slash', await ada.tool('article_delete', { slug: `../articles/${slug}` }), {
    raw: [],
    affected: 0,
  });
  check('its end, without a login', await nobody.tool('article_delete', { slug }), {
    error: 'Not authorized.',
  });
  check('its end', (await ada.tool('article_delete', { slug })).affected, 1);

  const profile = { username: 'bob' };
  check('a profile', await ada.tool('profile_get_profile', profile), await ada.rest('GET', '/profiles/bob'));
  check('follow', (await ada.tool('profile_follow', profile)).profile.following, true);
  check('followed', (await ada.rest('GET', '/profiles/bob')).profile.following, true);
}

/** passport, roles and serializer groups. */
async function driveBoilerplate(url, revision) {
  const way = { endpoint: '/api/mcp', api: '/api/v1', scheme: 'Bearer', revision };
  const nobody = await caller(url, way);
  const { tools } = await nobody.client.listTools();
  check('tools', tools.length, 13);
  const email = tools.find(({ name }) => name === 'auth_login')?.inputSchema.properties.email;
  check('an argument', email, {
    examples: ['test1@example.com'],
    minLength: 1,
    type: 'string',
    format: 'email',
  });
  check('a neutral version', (await nobody.tool('home_app_info')).name, 'Boilerplate');

  const login = async name => (await nobody.tool('auth_login', { email: name, password: 'secret' })).token;
  const admin = await caller(url, way, await login('Admin@example.com'));
  const john = await caller(url, way, await login('john.doe@example.com'));
  for (const [who, by] of Object.entries({ nobody, john, admin })) {
    const found = await by.tool('users_find_one', { id: '2' });
    check(`a user, as ${who}`, found, await by.rest('GET', '/users/2'));
    const all = await by.tool('users_find_all', { limit: 1 });
    check(`users, as ${who}`, all, await by.rest('GET', '/users?limit=1'));
  }
  check('me', await john.tool('auth_me'), await john.rest('GET', '/auth/me'));
  check('me, without a login', await nobody.tool('auth_me'), await nobody.rest('GET', '/auth/me'));
  const sort = JSON.stringify([{ orderBy: 'id', order: 'desc' }]);
  const sorted = await admin.rest('GET', `/users?sort=${encodeURIComponent(sort)}`);
  check('users, sorted', await admin.tool('users_find_all', { sort }), sorted);

  for (const wrong of [
    { email: 'admin@example.com', password: 'no' },
    { email: 'none', password: 'no' },
  ]) {
    check(
      'a login',
      await nobody.tool('auth_login', wrong),
      await nobody.rest('POST', '/auth/email/login', wrong),
    );
  }
  const user = {
    email: 'New@Example.com',
    password: 'secret1',
    firstName: 'N',
    lastName: 'U',
    role: { id: 2 },
  };
  check('a new user', (await admin.tool('users_create', user)).email, 'new@example.com');
  check('the same again', await admin.tool('users_create', user), await admin.rest('POST', '/users', user));
  check('its change', (await admin.tool('users_update', { id: '3', firstName: 'Neu' })).firstName, 'Neu');
  check('the changed', (await admin.rest('GET', '/users/3')).firstName, 'Neu');
  check('its end', await admin.tool('users_remove', { id: '3' }), '');
  check('the ended', await admin.rest('GET', '/users/3'), '');
}
