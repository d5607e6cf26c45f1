import { once } from 'node:events';
import { cpSync, mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { examine } from '../../cli/doctor/index.js';
import { HEADINGS } from '../../cli/doctor/finding.js';
import { read } from '../tooling/docs-pages.js';
import { folderWith, ROOT, runIn } from './io.js';

type Files = Record<string, string>;

const json = (value: object) => JSON.stringify(value);
const installed = (name: string, version: string): Files => ({
  [`node_modules/${name}/package.json`]: json({ name, version }),
});

const FLAGS = { experimentalDecorators: true, emitDecoratorMetadata: true };
const NODENEXT = { module: 'nodenext', moduleResolution: 'nodenext' };
const DEPENDENCIES = {
  'nestjs-mcp': '0.1.0',
  '@nestjs/common': '12.5.1',
  '@nestjs/core': '12.5.1',
  '@nestjs/platform-express': '12.5.1',
  'class-validator': '0.15.1',
  'class-transformer': '0.5.1',
  'reflect-metadata': '0.2.2',
  rxjs: '7.8.2',
};
const PACKAGE = { name: 'shop', dependencies: DEPENDENCIES, scripts: { start: 'nest start' } };

let port: number;

/** An application that is right: it compiles, and it is deployed in a container. */
const healthy = (): Files => ({
  'package.json': json(PACKAGE),
  'tsconfig.json': json({ compilerOptions: { ...FLAGS, ...NODENEXT } }),
  'nest-cli.json': json({ sourceRoot: 'src' }),
  Dockerfile: 'FROM node:22-alpine\nCMD ["node", "dist/main.js"]\n',
  'src/main.ts': `const app = await NestFactory.create(AppModule);\nawait app.listen(process.env.PORT ?? ${port});\n`,
  'src/app.module.ts':
    "@Module({ imports: [McpModule.forRoot({ name: 'shop', version: '1', http: { allowedHosts: ['shop.example.com'] } })] })",
  'src/search.tool.ts': "import { IsString } from 'class-validator';\nclass Search { @Tool() search() {} }\n",
  ...Object.assign({}, ...Object.entries(DEPENDENCIES).map(([name, version]) => installed(name, version))),
});

/** An application that differs from the healthy one; a file of `undefined` is missing. */
function application(changes: Record<string, string | undefined> = {}): string {
  const files = Object.entries({ ...healthy(), ...changes }).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  const folder = folderWith(Object.fromEntries(files));
  mkdirSync(join(folder, 'node_modules'), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules/typescript'), join(folder, 'node_modules/typescript'), 'junction');
  return folder;
}

const tsconfig = (options: object) => ({ 'tsconfig.json': json({ compilerOptions: options }) });
const main = (listen: string) => ({
  'src/main.ts': `await NestFactory.create(AppModule);\nawait app.${listen};\n`,
});

const NO_TYPES = 'The build emits no types of parameters';
const REDIS = { 'src/redis.ts': "import { McpRedisModule } from 'nestjs-mcp/redis';" };

/** Each set-up, the heading of what is wrong, and what is seen of it. */
const BROKEN: readonly (readonly [
  (typeof HEADINGS)[number],
  string,
  () => Record<string, string | undefined>,
])[] = [
  ['Node is too old', '.nvmrc has Node 18.20.4', () => ({ '.nvmrc': 'v18.20.4\n' })],
  [
    'Node is too old',
    'Dockerfile has Node 18-alpine',
    () => ({ Dockerfile: 'FROM node:18-alpine AS build' }),
  ],
  ['Nest is too old', '@nestjs/core is 10.4.1', () => installed('@nestjs/core', '10.4.1')],
  [
    'A package is missing',
    'redis is not installed, and nestjs-mcp/redis in src/redis.ts needs it',
    () => REDIS,
  ],
  [
    'A package is missing',
    'class-transformer is not installed, and a DTO in src/search.tool.ts needs it',
    () => ({ 'node_modules/class-transformer/package.json': undefined }),
  ],
  [
    'A package is missing',
    '@nestjs/platform-express is not installed, and NestFactory.create in src/main.ts needs it',
    () => ({ 'node_modules/@nestjs/platform-express/package.json': undefined }),
  ],
  [
    'Two copies of a package',
    '@nestjs/core: 12.5.1 in node_modules/@nestjs/core, and 12.4.0 in node_modules/common-things/node_modules/@nestjs/core',
    () => ({
      'package.json': json({ ...PACKAGE, dependencies: { ...DEPENDENCIES, 'common-things': '*' } }),
      ...installed('common-things', '1.0.0'),
      ...installed('common-things/node_modules/@nestjs/core', '12.4.0'),
    }),
  ],
  [
    'TypeScript cannot read its configuration',
    "line 2 of tsconfig.json: ',' expected.",
    () => ({ 'tsconfig.json': '{ "compilerOptions": { "strict": true\n"module": "nodenext" } }' }),
  ],
  [
    'TypeScript cannot read its configuration',
    "line 1 of tsconfig.json: File '@acme/tsconfig' not found.",
    () => ({ 'tsconfig.json': json({ extends: '@acme/tsconfig' }) }),
  ],
  [
    'Decorators are switched off',
    'tsconfig.json does not set "experimentalDecorators"',
    () => tsconfig({ ...NODENEXT, emitDecoratorMetadata: true }),
  ],
  [
    NO_TYPES,
    'tsconfig.build.json does not set "emitDecoratorMetadata"',
    () => ({
      ...tsconfig({ ...NODENEXT, ...FLAGS }),
      'tsconfig.build.json': json({
        extends: './tsconfig.json',
        compilerOptions: { emitDecoratorMetadata: false },
      }),
    }),
  ],
  [
    NO_TYPES,
    '.swcrc does not set "decoratorMetadata"',
    () => ({
      'nest-cli.json': json({ compilerOptions: { builder: 'swc' } }),
      '.swcrc': json({ jsc: { transform: { legacyDecorator: true } } }),
    }),
  ],
  [
    NO_TYPES,
    'the script "start:dev" is "tsx watch src/main.ts"',
    () => ({ 'package.json': json({ ...PACKAGE, scripts: { 'start:dev': 'tsx watch src/main.ts' } }) }),
  ],
  [
    'TypeScript cannot import the packages',
    'tsconfig.json has "module": "node16", which refuses the ES modules of Nest 12',
    () => tsconfig({ ...FLAGS, module: 'node16' }),
  ],
  [
    'No module imports McpModule',
    'src/search.tool.ts declares a handler, and no file has McpModule.forRoot',
    () => ({ 'src/app.module.ts': '@Module({ providers: [Search] }) export class AppModule {}' }),
  ],
  [
    'No module imports McpModule',
    'src/search.tool.ts declares a handler, and no file has McpModule.forRoot',
    () => ({
      'src/app.module.ts': `const docs = 'https://example.com';
// McpModule.forRoot({ name: 'shop' })
/* or McpModule.forRootAsync() */
@Module({ providers: [Search] }) export class AppModule {}`,
    }),
  ],
  [
    'Node is too old',
    'deploy/Dockerfile has Node 18-slim',
    () => ({ 'deploy/Dockerfile': read('deploy/Dockerfile').replaceAll('node:24-slim', 'node:18-slim') }),
  ],
  [
    'The server refuses the host of its deployment',
    'deploy/nginx.conf sends the host "nodes" in place of the host that the client names',
    () => ({ 'deploy/nginx.conf': read('deploy/nginx.conf').replace('proxy_set_header Host $host;', '') }),
  ],
  [
    'The server refuses the host of its deployment',
    'deploy/kubernetes.yaml deploys the application, and no file sets "allowedHosts"',
    () => ({
      Dockerfile: undefined,
      'deploy/kubernetes.yaml': read('deploy/kubernetes.yaml'),
      'src/app.module.ts': "@Module({ imports: [McpModule.forRoot({ name: 'shop', version: '1' })] })",
    }),
  ],
  [
    'The server refuses the host of its deployment',
    'Dockerfile deploys the application, and no file sets "allowedHosts"',
    () => ({
      'src/app.module.ts': "@Module({ imports: [McpModule.forRoot({ name: 'shop', version: '1' })] })",
    }),
  ],
  [
    'The application listens inside its container only',
    `src/main.ts has listen(process.env.PORT ?? 0, '127.0.0.1'), and Dockerfile deploys it`,
    () => main("listen(process.env.PORT ?? 0, '127.0.0.1')"),
  ],
];

describe('nestjs-mcp doctor', () => {
  const { PORT } = process.env;

  beforeAll(async () => {
    delete process.env.PORT;
    const server = createServer().listen(0);
    await once(server, 'listening');
    ({ port } = server.address() as AddressInfo);
    server.close();
    await once(server, 'close');
  });

  afterAll(() => {
    if (PORT !== undefined) process.env.PORT = PORT;
  });

  it('finds nothing in a healthy application', async () => {
    expect(await runIn(application(), 'doctor')).toEqual({
      code: 0,
      out: 'Nothing is wrong in the set-up\n',
      err: '',
    });
  });

  it.each(BROKEN)('names %s: %s', async (heading, seen, changes) => {
    const folder = application(changes());
    expect(await examine(folder)).toEqual([expect.objectContaining({ heading, seen })]);
    const { code, out } = await runIn(ROOT, 'doctor', folder);
    expect(code).toBe(1);
    expect(out).toMatch(new RegExp(`^${heading}\n  .+\n  .+\n$`));
  });

  it('prints what the documentation shows', async () => {
    const folder = application({ ...REDIS, 'src/app.module.ts': 'McpModule.forRoot({ http: true })' });
    expect((await runIn(folder, 'doctor')).out).toBe(read('docs/snippets/outputs/doctor.txt'));
  });

  it('finds nothing in the files for operators of this package', async () => {
    const folder = application({ Dockerfile: undefined });
    cpSync(join(ROOT, 'deploy'), join(folder, 'deploy'), { recursive: true });
    expect(await examine(folder)).toEqual([]);
  });

  it('accepts an nginx that sends a host which the server answers, and a server that only nginx can reach', async () => {
    const proxies = ['127.0.0.1:3000', 'shop.example.com'].map(
      to => `location = /mcp { proxy_pass http://${to}; }`,
    );
    const changes = { ...main("listen(0, '127.0.0.1')"), Dockerfile: undefined };
    expect(await examine(application({ ...changes, 'deploy/nginx.conf': proxies.join('\n') }))).toEqual([]);
  });

  it('accepts a host that the environment of the container replaces, and only there', async () => {
    const changes = main("listen(Number(process.env.PORT ?? 0), process.env.HOST ?? 'localhost')");
    const container = 'FROM node\nENV NODE_ENV=production HOST=0.0.0.0\n';
    const pod = 'kind: Pod\nspec: { containers: [{ env: [{ name: HOST, value: 0.0.0.0 }] }] }\n';
    const compose = 'services:\n  shop:\n    environment:\n      HOST: 0.0.0.0\n';
    for (const files of [{ Dockerfile: container }, { 'compose.yaml': compose }, { 'k8s/pod.yaml': pod }])
      expect(await examine(application({ ...changes, ...files }))).toEqual([]);
    expect(await examine(application(changes))).toEqual([
      expect.objectContaining({ heading: 'The application listens inside its container only' }),
    ]);
  });

  it('accepts the routes of McpHealthIndicator without Terminus', async () => {
    const health = "import { McpHealthIndicator, McpTelemetryModule } from 'nestjs-mcp/telemetry';";
    const changes = { 'src/health.ts': health, ...installed('@opentelemetry/api', '1.9.0') };
    expect(await examine(application(changes))).toEqual([]);
  });

  it('ignores folders that are named like files', async () => {
    const folder = application({ Dockerfile: undefined });
    for (const name of [
      '.nvmrc',
      '.swcrc',
      'Dockerfile',
      'src/old.ts',
      'deploy/compose.yaml',
      'docker/nginx.conf',
    ])
      mkdirSync(join(folder, name), { recursive: true });
    expect(await examine(folder)).toEqual([]);
  });

  it.each([
    ['package-lock.json', 'Run npm install', 'Run npm install redis'],
    ['pnpm-lock.yaml', 'Run pnpm install', 'Run pnpm add redis'],
    ['yarn.lock', 'Run yarn install', 'Run yarn add redis'],
  ])('names the package manager of %s in the folder or above', async (lock, all, one) => {
    const folder = application({ ...REDIS, [lock]: '' });
    expect(await examine(folder)).toMatchObject([{ remedy: one }]);
    rmSync(join(folder, 'node_modules'), { recursive: true });
    expect(await examine(folder)).toMatchObject([{ heading: 'The packages are not installed', remedy: all }]);

    const workspace = folderWith({ [lock]: '', 'apps/shop/package.json': json(PACKAGE) });
    expect(await examine(join(workspace, 'apps/shop'))).toMatchObject([{ remedy: all }]);
  });

  it('names a port that another program has', async () => {
    const server = createServer(socket => socket.end()).listen(0);
    await once(server, 'listening');
    const { port: taken } = server.address() as AddressInfo;
    try {
      const findings = await examine(application(main(`listen(${taken})`)));
      expect(findings).toMatchObject([
        {
          heading: 'The port is in use',
          seen: `another program listens on ${taken}, the port of src/main.ts`,
        },
      ]);
    } finally {
      server.close();
    }
  });

  it.each([
    ['without package.json', {}, 'there is no package.json in /'],
    ['with a broken package.json', { 'package.json': '{' }, 'package.json is not JSON: '],
    ['with a package.json of null', { 'package.json': 'null' }, 'package.json must hold an object'],
    ['with a folder package.json', { 'package.json/x': '' }, 'there is no package.json in /'],
    [
      'with a broken nest-cli.json',
      { 'package.json': '{}', 'nest-cli.json': '{' },
      'nest-cli.json is not JSON: ',
    ],
  ])('refuses a folder %s', async (_, files: Files, message) => {
    const { code, out, err } = await runIn(folderWith(files), 'doctor');
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toContain(`nestjs-mcp doctor: ${message}`);
  });

  it('uses the headings of the page on troubleshooting', () => {
    const [, section] = read('docs/troubleshooting.md').split('## The set-up of an application\n');
    const headings = Array.from(section.split('\n## ')[0].matchAll(/^### (.+)$/gm), ([, heading]) => heading);
    expect(headings).toEqual(HEADINGS);
  });
});
