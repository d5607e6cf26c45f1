import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { APPLICATION, MANIFEST, newRunner, ROOT, treeOf } from './application.js';

describe('the packages of an application', () => {
  let folder: string;
  // The schematics take the packages of the folder that they run in.
  beforeEach(() => {
    jest.resetModules();
    folder = mkdtempSync(join(tmpdir(), 'packages-'));
    jest.spyOn(process, 'cwd').mockReturnValue(folder);
    ['typescript', 'class-transformer', 'class-validator'].forEach(install);
  });
  afterEach(() => {
    jest.restoreAllMocks();
    rmSync(folder, { recursive: true });
  });

  function install(name: string): void {
    const path = join(folder, 'node_modules', name);
    mkdirSync(dirname(path), { recursive: true });
    symlinkSync(join(ROOT, 'node_modules', name), path, 'junction');
  }

  /** The tasks of `nest add`, when the application names all packages. */
  async function tasks(): Promise<unknown[]> {
    const devDependencies = { ...MANIFEST.devDependencies, '@modelcontextprotocol/client': '^2.4.0' };
    const dependencies = {
      ...MANIFEST.dependencies,
      'class-transformer': '^0.5.1',
      'class-validator': '^0.15.0',
    };
    const manifest = JSON.stringify({ ...MANIFEST, dependencies, devDependencies });
    const runner = newRunner();
    const tree = treeOf({ ...APPLICATION, '/package.json': manifest });
    const after = await runner.runSchematic('nest-add', { sourceRoot: 'src' }, tree);
    expect(after.readText('/package.json')).toBe(manifest);
    return runner.tasks;
  }

  it('are installed if one that package.json names is missing', async () => {
    expect(await tasks()).toMatchObject([{ name: 'node-package', options: { command: 'install' } }]);
  });

  it('are not installed if all are there', async () => {
    install('@modelcontextprotocol/client');
    expect(await tasks()).toEqual([]);
  });
});
