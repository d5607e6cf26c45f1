import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import ts from 'typescript';
import { APPLICATION, ESM, newRunner, ROOT, treeOf, type Files } from './application.js';

const SCHEMATICS = ['tool', 'prompt', 'resource', 'interceptor', 'app', 'extension', 'health'];

/** The sources of the package, for the applications that import it. */
const ENTRY = join(ROOT, 'lib/index.ts');

/** What Jest reports of the specs. */
interface Report {
  readonly numPassedTests: number;
  readonly testResults: readonly { readonly status: string; readonly message: string }[];
}

let folder: string;

/** Starts the whole application: all classes, and the modules of `nest add`. */
const START = `import type { INestApplication } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { AppModule } from './app.module';

let app: INestApplication;
afterEach(() => app.close());

it('starts, and asks for a token', async () => {
  const testing = await Test.createTestingModule({ imports: [AppModule] }).compile();
  app = testing.createNestApplication();
  await app.listen(0, '127.0.0.1');
  const url = await app.getUrl();
  const ping = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' });
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
  expect((await fetch(url + '/mcp', { method: 'POST', headers, body: ping })).status).toBe(401);
  expect((await fetch(url + '/mcp-explorer')).status).toBe(200);
  expect((await fetch(url + '/find-health/ready')).status).toBe(200);
});
`;

/** Writes an application with one class of each kind; it finds the packages of the repository. */
async function writeApplication(name: string, files: Files, options: object): Promise<string[]> {
  let tree = treeOf({
    ...files,
    '/src/app.controller.ts':
      "import { Controller } from '@nestjs/common';\n@Controller()\nexport class AppController {}\n",
    '/src/app.service.ts': 'export class AppService {}\n',
  });
  tree = await newRunner().runSchematic('nest-add', options, tree);
  for (const schematic of SCHEMATICS)
    tree = await newRunner().runSchematic(schematic, { name: `find-${schematic}` }, tree);
  return tree.files.map(path => {
    const file = join(folder, name, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, tree.readText(path));
    return file;
  });
}

describe('what the schematics generate', () => {
  let sources: string[];

  beforeAll(async () => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), 'generated-')));
    symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'), 'junction');
    const options = { auth: true, telemetry: true, explorer: true };
    const started = { ...APPLICATION, '/src/app.module.spec.ts': START };
    const files = [
      await writeApplication('commonjs', started, options),
      await writeApplication('esm', ESM, { ...options, redis: true, stdio: true }),
    ];
    sources = files.flat().filter(file => file.endsWith('.ts'));
  });

  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('compiles under strict, in CommonJS and in ES modules', () => {
    const { compilerOptions } = ts.readConfigFile(join(ROOT, 'tsconfig.json'), path => ts.sys.readFile(path))
      .config as { compilerOptions: object };
    const paths = { 'nestjs-mcp': [ENTRY], 'nestjs-mcp/*': [join(ROOT, 'lib/*/index.ts')] };
    const { options } = ts.convertCompilerOptionsFromJson(
      { ...compilerOptions, paths, noEmit: true },
      folder,
    );
    const program = ts.createProgram(sources, options);
    const errors = sources
      .map(path => program.getSourceFile(path))
      .flatMap(file => [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)])
      .map(
        ({ file, messageText }) => `${file?.fileName}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`,
      );
    expect(sources.length).toBeGreaterThan(2 * 2 * SCHEMATICS.length);
    expect(errors).toEqual([]);
  }, 120_000);

  it('passes its specs', () => {
    // eslint-disable-next-line @typescript-eslint/no-require-imports
    const { transform, transformIgnorePatterns, moduleFileExtensions } = require(
      join(ROOT, 'jest.config.js'),
    );
    const config = {
      rootDir: folder,
      testEnvironment: 'node',
      testTimeout: 30_000,
      moduleFileExtensions,
      transformIgnorePatterns,
      transform: Object.fromEntries(
        Object.entries<[string, object]>(transform).map(([pattern, [name, options]]) => [
          pattern,
          [require.resolve(name), options],
        ]),
      ),
      moduleNameMapper: {
        '^nestjs-mcp$': ENTRY,
        '^nestjs-mcp/(.*)$': join(ROOT, 'lib/$1/index.ts'),
        '^(\\.{1,2}/.*)\\.js$': '$1',
      },
    };
    const jest = join(ROOT, 'node_modules/jest/bin/jest.js');
    const { stdout } = spawnSync(
      process.execPath,
      ['--experimental-vm-modules', jest, '--json', '--config', JSON.stringify(config)],
      { cwd: folder, encoding: 'utf8', timeout: 240_000 },
    );
    const { numPassedTests, testResults } = JSON.parse(stdout) as Report;
    expect(testResults.filter(({ status }) => status !== 'passed').map(({ message }) => message)).toEqual([]);
    // Each spec has two tests in both applications, also the one of the tool that `nest add` writes.
    expect(numPassedTests).toBe(2 * 2 * (SCHEMATICS.length + 1) + 1);
  }, 300_000);
});
