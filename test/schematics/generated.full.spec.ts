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

/** Writes an application with one class of each kind; it finds the packages of the repository. */
async function writeApplication(name: string, files: Files): Promise<string[]> {
  let tree = treeOf({
    ...files,
    '/src/app.controller.ts': 'export class AppController {}\n',
    '/src/app.service.ts': 'export class AppService {}\n',
  });
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
    const files = [await writeApplication('commonjs', APPLICATION), await writeApplication('esm', ESM)];
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
      { cwd: folder, encoding: 'utf8' },
    );
    const { numPassedTests, testResults } = JSON.parse(stdout) as Report;
    expect(testResults.filter(({ status }) => status !== 'passed').map(({ message }) => message)).toEqual([]);
    // Each spec has two tests, in both applications.
    expect(numPassedTests).toBe(2 * 2 * SCHEMATICS.length);
  }, 300_000);
});
