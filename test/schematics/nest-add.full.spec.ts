import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { startProcess, type RunningProcess } from '../../sample/support/drive.js';
import { freePort } from '../../sample/support/free-port.js';
import { ROOT } from './application.js';
import { exec, startRegistry, type Registry } from './registry.js';

const MAIN = `import { NestFactory } from '@nestjs/core';
import { AppModule } from './app.module.js';

const app = await NestFactory.create(AppModule);
await app.listen(process.env.PORT!, '127.0.0.1');
`;

const MODULE = `import { Module } from '@nestjs/common';

@Module({ imports: [], providers: [] })
export class AppModule {}
`;

/** An application of Nest 12 in ES modules, of which nothing is installed. */
const APPLICATION = {
  'package.json': JSON.stringify({
    name: 'shop',
    version: '1.0.0',
    type: 'module',
    dependencies: {
      '@nestjs/common': '^12.5.1',
      '@nestjs/core': '^12.5.1',
      '@nestjs/platform-express': '^12.5.1',
      'reflect-metadata': '^0.2.2',
      rxjs: '^7.8.2',
    },
    devDependencies: { '@types/node': '^20.19.43', typescript: '~6.0.3' },
  }),
  'nest-cli.json': JSON.stringify({ sourceRoot: 'src' }),
  'tsconfig.json': JSON.stringify({
    compilerOptions: {
      target: 'es2023',
      module: 'nodenext',
      strict: true,
      skipLibCheck: true,
      experimentalDecorators: true,
      emitDecoratorMetadata: true,
      types: ['node'],
      rootDir: 'src',
      outDir: 'dist',
    },
    include: ['src'],
    exclude: ['**/*.spec.ts'],
  }),
  'src/main.ts': MAIN,
  'src/app.module.ts': MODULE,
};

describe('nest add nestjs-mcp, from a registry', () => {
  let registry: Registry;
  let folder: string;
  let server: RunningProcess | undefined;
  beforeAll(async () => {
    registry = await startRegistry();
    folder = mkdtempSync(join(tmpdir(), 'nest-add-'));
    const files = { ...APPLICATION, '.npmrc': `registry=${registry.url}\naudit=false\nfund=false\n` };
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), text);
    }
  }, 300_000);
  afterAll(async () => {
    await server?.stop();
    await registry.close();
    rmSync(folder, { recursive: true });
  });

  const nestAdd = () =>
    exec(folder, process.execPath, join(ROOT, 'node_modules/@nestjs/cli/bin/nest.js'), 'add', 'nestjs-mcp');

  /** The files of the application and their hashes. */
  const hashes = () =>
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter(file => file.isFile() && !file.parentPath.startsWith(join(folder, 'node_modules')))
      .map(file => join(file.parentPath, file.name))
      .map(path => `${path} ${createHash('sha256').update(readFileSync(path)).digest('hex')}`)
      .sort();

  it('makes a server whose tool clients call, and changes nothing the second time', async () => {
    await nestAdd();
    const before = hashes();
    expect(before.join('\n')).toContain('src/hello/hello.tool.ts');
    expect(await nestAdd()).toContain('Nothing to be done');
    expect(hashes()).toEqual(before);

    await exec(folder, process.execPath, join(folder, 'node_modules/typescript/bin/tsc'));
    const port = await freePort();
    server = startProcess(join(folder, 'dist/main'), { PORT: String(port), NODE_OPTIONS: '' });
    await server.printed(/Listening at/);
    for (const mode of [{ pin: '2026-07-28' }, 'legacy'] as const) {
      const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
      await client.connect(new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${port}/mcp`)));
      const { content } = await client.callTool({ name: 'hello', arguments: { text: 'tea' } });
      expect(content).toEqual([{ type: 'text', text: 'The text has 3 characters' }]);
      await client.close();
    }
  }, 300_000);
});
