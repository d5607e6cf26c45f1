import { join } from 'node:path';
import { Ajv } from 'ajv';
import { ROOT, folderWith, runIn } from './io.js';

const MODULE = join(ROOT, 'docs/snippets/start/app.module.ts');

const text = (maxLength: number) => ({ type: 'string', minLength: 1, maxLength });
const url = { type: 'string', pattern: '^https?://[^\\s]+$' };

/** What the registry's schema of 2025-12-11 demands of the fields that the command writes. */
const SCHEMA = {
  type: 'object',
  required: ['$schema', 'name', 'description', 'version'],
  additionalProperties: false,
  properties: {
    $schema: { const: 'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json' },
    name: { type: 'string', minLength: 3, maxLength: 200, pattern: '^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$' },
    title: text(100),
    description: text(100),
    version: text(255),
    websiteUrl: url,
    repository: {
      type: 'object',
      required: ['url', 'source'],
      additionalProperties: false,
      properties: { url, source: { type: 'string' }, subfolder: { type: 'string' } },
    },
    remotes: {
      type: 'array',
      items: {
        type: 'object',
        required: ['type', 'url'],
        additionalProperties: false,
        properties: { type: { const: 'streamable-http' }, url },
      },
    },
    packages: {
      type: 'array',
      items: {
        type: 'object',
        required: ['registryType', 'identifier', 'transport'],
        additionalProperties: false,
        properties: {
          registryType: { const: 'npm' },
          identifier: { type: 'string' },
          version: { type: 'string', minLength: 1, not: { const: 'latest' } },
          transport: { type: 'object', required: ['type'], properties: { type: { const: 'stdio' } } },
        },
      },
    },
  },
};

const MANIFEST = {
  name: '@acme/shop',
  version: '2.1.0',
  description: 'The catalogue of a shop',
  repository: { type: 'git', url: 'git+https://github.com/acme/shop.git', directory: 'apps/shop' },
};

const run = (manifest: object, ...args: readonly string[]) =>
  runIn(folderWith({ 'package.json': JSON.stringify(manifest) }), 'server.json', ...args);

async function describeServer(
  manifest: object,
  ...args: readonly string[]
): Promise<Record<string, unknown>> {
  const { code, out, err } = await run(manifest, '--module', MODULE, ...args);
  expect({ code, err }).toEqual({ code: 0, err: '' });
  const file = JSON.parse(out);
  const ajv = new Ajv();
  expect({ valid: ajv.validate(SCHEMA, file), errors: ajv.errors }).toEqual({ valid: true, errors: null });
  return file;
}

describe('nestjs-mcp server.json', () => {
  it('describes a remote server by its module and package.json', async () => {
    expect(await describeServer(MANIFEST, '--url', 'https://shop.example.com/mcp')).toEqual({
      $schema: SCHEMA.properties.$schema.const,
      name: 'io.github.acme/shop',
      description: 'The catalogue of a shop',
      version: '1.0.0',
      repository: { url: 'https://github.com/acme/shop', source: 'github', subfolder: 'apps/shop' },
      remotes: [{ type: 'streamable-http', url: 'https://shop.example.com/mcp' }],
    });
  });

  it('describes an npm package that serves stdio', async () => {
    const manifest = { ...MANIFEST, mcpName: 'com.acme/shop', homepage: 'https://acme.com/' };
    expect(await describeServer(manifest, '--npm')).toMatchObject({
      name: 'com.acme/shop',
      websiteUrl: 'https://acme.com/',
      packages: [
        { registryType: 'npm', identifier: '@acme/shop', version: '2.1.0', transport: { type: 'stdio' } },
      ],
    });
  });

  it.each([
    ['acme/shop', 'https://github.com/acme/shop'],
    ['github:acme/shop', 'https://github.com/acme/shop'],
    ['gitlab:acme/group/shop', 'https://gitlab.com/acme/group/shop'],
    ['git@github.com:acme/shop.git', 'https://github.com/acme/shop'],
    ['https://github.com/acme/shop/', 'https://github.com/acme/shop'],
    ['https://git.acme.com/shop', undefined],
  ])('knows the repository %s', async (repository, found) => {
    const file = await describeServer({ ...MANIFEST, repository }, '--name', 'com.acme/shop');
    expect(file['repository']).toEqual(
      found === undefined ? undefined : expect.objectContaining({ url: found }),
    );
  });

  it.each([
    [MANIFEST, [], 'give --module'],
    [MANIFEST, ['--module', MODULE, '--server', 'none'], 'the application has no MCP server "none"'],
    [MANIFEST, ['--module', MODULE, '--name', 'shop'], '"shop" is no name of the registry'],
    [MANIFEST, ['--module', MODULE, '--url', '/mcp'], '--url "/mcp": write the URL of an endpoint'],
    [MANIFEST, ['--module', MODULE, '--npm'], 'set "mcpName": "io.github.acme/shop" in package.json'],
    [{ name: 'shop' }, ['--module', MODULE], 'package.json has neither "mcpName" nor a GitHub "repository"'],
    [{ mcpName: 'com.acme/shop' }, ['--module', MODULE], 'package.json has no "description"'],
    [
      { mcpName: 'com.acme/shop', description: 'a'.repeat(101) },
      ['--module', MODULE],
      'the description has 101 characters, and the registry takes 100',
    ],
  ])('refuses %j with %j', async (manifest, args, message) => {
    const { code, out, err } = await run(manifest, ...args);
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toContain(message);
  });

  it('names package.json if it is broken', async () => {
    const { code, err } = await runIn(folderWith({ 'package.json': '{' }), 'server.json', '--module', MODULE);
    expect(code).toBe(1);
    expect(err).toContain('nestjs-mcp server.json: package.json is not JSON: ');
  });
});
