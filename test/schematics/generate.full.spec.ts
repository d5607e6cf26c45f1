import { NodeWorkflow } from '@angular-devkit/schematics/tools';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync, mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import {
  APPLICATION,
  changes,
  ESM,
  MANIFEST,
  newRunner,
  ROOT_MODULE,
  ROOT,
  run,
  treeOf,
} from './application.js';

const CLASSES = ['tool', 'prompt', 'resource', 'interceptor', 'app', 'extension'];

describe.each(CLASSES)('nest g %s', schematic => {
  it('writes a class with a spec, and lists the class in the module', async () => {
    const tree = await run(schematic, { name: 'find-open' });
    const className = `FindOpen${schematic[0].toUpperCase()}${schematic.slice(1)}`;
    expect(tree.readText(`/src/find-open/find-open.${schematic}.ts`)).toContain(
      `export class ${className} {`,
    );
    expect(tree.readText(`/src/find-open/find-open.${schematic}.spec.ts`)).toContain(
      `from './find-open.${schematic}';`,
    );
    const module = tree.readText('/src/app.module.ts');
    expect(module).toContain(`import { ${className} } from './find-open/find-open.${schematic}';`);
    expect(module).toContain(`providers: [AppService, ${className}]`);
  });

  it('imports with an extension in an ES module', async () => {
    const tree = await run(schematic, { name: 'search' }, ESM);
    expect(tree.readText('/src/app.module.ts')).toContain(`from './search/search.${schematic}.js';`);
    expect(tree.readText(`/src/search/search.${schematic}.spec.ts`)).toContain(
      `from './search.${schematic}.js';`,
    );
  });
});

it('the documentation shows what is generated', async () => {
  const tree = await run('tool', { name: 'search' });
  const shown = readFileSync(join(ROOT, 'docs/snippets/generating/search.tool.ts'), 'utf8');
  expect(tree.readText('/src/search/search.tool.ts')).toBe(shown);
});

describe('nest g health', () => {
  it('writes a controller, and imports the modules of its services', async () => {
    const tree = await run('health', {});
    expect(changes(tree)).toEqual(
      expect.arrayContaining(['/src/health/health.controller.ts', '/src/health/health.controller.spec.ts']),
    );
    const module = tree.readText('/src/app.module.ts');
    expect(module).toContain('imports: [TerminusModule, McpTelemetryModule.forRoot()]');
    expect(module).toContain('controllers: [AppController, HealthController]');
    expect(tree.readText('/src/health/health.controller.ts')).toContain("@Controller('health')");
  });

  it('takes another name', async () => {
    const tree = await run('health', { name: 'status' });
    expect(tree.readText('/src/status/status.controller.ts')).toContain("@Controller('status')");
  });

  it('takes the version of Terminus that the application can have', async () => {
    const manifest = { ...MANIFEST, dependencies: { '@nestjs/common': '~11.1.3' } };
    const tree = await run('health', {}, { ...APPLICATION, '/package.json': JSON.stringify(manifest) });
    expect(tree.readJson('/package.json')).toMatchObject({ dependencies: { '@nestjs/terminus': '^11.0.0' } });
  });
});

describe('a name', () => {
  it.each([
    [{ name: 'orders/find' }, '/src/orders/find/find.tool.ts', './orders/find/find.tool'],
    [{ name: 'orders/find', flat: true }, '/src/orders/find.tool.ts', './orders/find.tool'],
    [{ name: 'find', path: 'orders' }, '/src/orders/find/find.tool.ts', './orders/find/find.tool'],
    [{ name: 'find', flat: true }, '/src/find.tool.ts', './find.tool'],
    [{ name: 'findOpen' }, '/src/find-open/find-open.tool.ts', './find-open/find-open.tool'],
    [{ name: 'find', sourceRoot: 'apps/shop/src', flat: true }, '/apps/shop/src/find.tool.ts', undefined],
  ])('%j is the file %s', async (options, path, specifier) => {
    const tree = await run('tool', options);
    expect(tree.files).toContain(path);
    expect(tree.files).toContain(path.replace('.tool.ts', '.tool.spec.ts'));
    if (specifier) expect(tree.readText('/src/app.module.ts')).toContain(`from '${specifier}';`);
    else expect(tree.readText('/src/app.module.ts')).toBe(ROOT_MODULE);
  });

  it.each(['7-days', 'a:b', 'constructor', 'then', '-'])('%j is refused', async name => {
    await expect(run('tool', { name })).rejects.toThrow(
      `The name "${name}" cannot name a class and its method`,
    );
  });

  it.each([
    { name: '../evil' },
    { name: '../../evil' },
    { name: 'evil', path: '..' },
    { name: 'a/../../evil' },
  ])('%j, which leads out of the source root, is refused', async options => {
    await expect(run('tool', options)).rejects.toThrow('leads out of the source root');
  });

  it('of a file that exists is refused', async () => {
    const files = { ...APPLICATION, '/src/find.tool.ts': '' };
    await expect(run('tool', { name: 'find', flat: true }, files)).rejects.toThrow(
      '/src/find.tool.ts exists already',
    );
  });

  it('in a folder of a project is below this folder', async () => {
    const tree = await run('tool', { name: 'find', flat: true }, { '/orders.module.ts': ROOT_MODULE });
    expect(tree.readText('/orders.module.ts')).toContain("import { FindTool } from './find.tool';");
  });
});

describe('the module', () => {
  const files = {
    ...APPLICATION,
    '/src/orders/orders.module.ts': ROOT_MODULE.replace('AppModule', 'OrdersModule'),
    '/src/shared/shared.module.ts': ROOT_MODULE.replace('AppModule', 'SharedModule'),
  };

  it('is the nearest one above the class', async () => {
    const tree = await run('tool', { name: 'orders/find' }, files);
    expect(tree.readText('/src/orders/orders.module.ts')).toContain("from './find/find.tool';");
    expect(tree.readText('/src/app.module.ts')).toBe(ROOT_MODULE);
  });

  it.each(['shared/shared', 'shared/shared.module.ts', 'src/shared/shared.module'])(
    'is the one that --module=%s names',
    async module => {
      const tree = await run('tool', { name: 'orders/find', module }, files);
      expect(tree.readText('/src/shared/shared.module.ts')).toContain("from '../orders/find/find.tool';");
      expect(tree.readText('/src/orders/orders.module.ts')).toBe(files['/src/orders/orders.module.ts']);
    },
  );

  it('that --module names has to exist', async () => {
    await expect(run('tool', { name: 'find', module: 'shop' }, files)).rejects.toThrow(
      '--module=shop: there is no such file',
    );
  });

  it('that is none of Nest is an error', async () => {
    const broken = { ...APPLICATION, '/src/app.module.ts': 'export class AppModule {}\n' };
    await expect(run('tool', { name: 'find' }, broken)).rejects.toThrow(
      '/src/app.module.ts has no @Module({ ... }): add FindTool to its providers yourself',
    );
  });

  it('may be missing: a warning says what to do', async () => {
    const runner = newRunner();
    const logged: string[] = [];
    runner.logger.subscribe(({ level, message }) => logged.push(`${level}: ${message}`));
    const { '/src/app.module.ts': _, ...withoutModule } = APPLICATION;
    await runner.runSchematic('tool', { name: 'find', flat: true }, treeOf(withoutModule));
    expect(logged).toEqual([
      'warn: There is no module above /src/find.tool.ts: list FindTool in the providers of a module',
    ]);
  });

  it('does not change with --skip-import', async () => {
    const tree = await run('app', { name: 'board', skipImport: true });
    expect(changes(tree)).toEqual([
      '/package.json',
      '/src/board/board.app.ts',
      '/src/board/board.app.spec.ts',
    ]);
  });

  it('gets a module that the class needs, unless another module has it', async () => {
    const first = await run('app', { name: 'board' }, files);
    expect(first.readText('/src/app.module.ts')).toContain('imports: [McpAppsModule.forRoot()]');
    const second = await newRunner().runSchematic('app', { name: 'orders/list' }, first);
    expect(second.readText('/src/orders/orders.module.ts')).toContain('ListApp');
    expect(second.readText('/src/orders/orders.module.ts')).not.toContain('McpAppsModule');
  });
});

describe('the options', () => {
  it('--no-spec writes no spec, and adds no package for it', async () => {
    const tree = await run('interceptor', { name: 'audit', spec: false });
    expect(changes(tree)).toEqual(['/src/app.module.ts', '/src/audit/audit.interceptor.ts']);
  });

  it('--spec-file-suffix names the spec', async () => {
    const tree = await run('tool', { name: 'find', flat: true, specFileSuffix: 'test' });
    expect(tree.files).toContain('/src/find.tool.test.ts');
  });

  it('another language than TypeScript is an error', async () => {
    await expect(run('tool', { name: 'find', language: 'js' })).rejects.toThrow('the language is "js"');
  });
});

describe('package.json', () => {
  it('gets the packages that are missing, and they are installed', async () => {
    const runner = newRunner();
    const tree = await runner.runSchematic('tool', { name: 'find' }, treeOf(APPLICATION));
    expect(tree.readJson('/package.json')).toEqual({
      ...MANIFEST,
      dependencies: { ...MANIFEST.dependencies, 'class-transformer': '^0.5.1', 'class-validator': '^0.15.0' },
      devDependencies: { ...MANIFEST.devDependencies, '@modelcontextprotocol/client': '^2.4.0' },
    });
    expect(Object.keys((tree.readJson('/package.json') as typeof MANIFEST).dependencies)).toEqual([
      '@nestjs/common',
      'class-transformer',
      'class-validator',
      'zod',
    ]);
    expect(runner.tasks).toMatchObject([{ name: 'node-package', options: { command: 'install' } }]);

    const again = newRunner();
    await again.runSchematic('tool', { name: 'list' }, tree);
    expect(again.tasks).toEqual([]);
  });

  it('keeps the versions that it has', async () => {
    const devDependencies = { '@modelcontextprotocol/client': '2.4.1', 'class-validator': '0.14.0' };
    const text = JSON.stringify({ ...MANIFEST, devDependencies }, null, 4);
    const tree = await run('tool', { name: 'find' }, { ...APPLICATION, '/package.json': text });
    expect(tree.readJson('/package.json')).toMatchObject({ devDependencies });
    expect(tree.readText('/package.json')).toContain('\n    "name": "shop"');
    expect(tree.readText('/package.json').match(/class-validator/g)).toHaveLength(1);
  });
});

describe('files on the disk', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'application-'));
    for (const [path, text] of Object.entries(APPLICATION)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), text);
    }
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  /** What has changed in the folder. */
  const generate = async (dryRun: boolean) => {
    const workflow = new NodeWorkflow(folder, { dryRun });
    const options = { name: 'audit', spec: false };
    const collection = join(ROOT, 'schematics/collection.json');
    await workflow.execute({ collection, schematic: 'interceptor', options }).forEach(() => {});
    return readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter(file => file.isFile())
      .map(file => join(file.parentPath, file.name))
      .filter(path => readFileSync(path, 'utf8') !== APPLICATION[path.slice(folder.length)])
      .map(path => path.slice(folder.length))
      .sort();
  };

  it('do not change with --dry-run', async () => {
    expect(await generate(true)).toEqual([]);
    expect(await generate(false)).toEqual(['/src/app.module.ts', '/src/audit/audit.interceptor.ts']);
  });
});
