import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { transformFileSync } from '@swc/core';

const run = promisify(execFile);

export const ROOT = join(__dirname, '../../..');
const TSC = join(ROOT, 'node_modules/typescript/bin/tsc');

/** A folder in which the package is installed, as it is published, beside the packages of this checkout. */
export class Project {
  readonly folder = mkdtempSync(join(tmpdir(), 'nestjs-mcp-project-'));

  /** @param missing packages that the project does not have */
  static async create(missing: readonly string[] = []): Promise<Project> {
    const project = new Project();
    project.link(missing);
    const own = join(project.folder, 'node_modules/nestjs-mcp');
    const compile = (...args: string[]) =>
      run(process.execPath, [TSC, '-p', join(ROOT, 'tsconfig.build.json'), '--noCheck', ...args]);
    await Promise.all([
      compile('--outDir', join(own, 'dist/cjs')),
      compile('--outDir', join(own, 'dist/esm'), '--module', 'esnext'),
    ]);
    await run(process.execPath, [join(ROOT, 'tools/mark-esm.mjs'), join(own, 'dist/esm')]);
    await run(process.execPath, [join(ROOT, 'tools/build-page.mjs'), join(own, 'dist/cjs/explorer/page')]);
    cpSync(join(ROOT, 'package.json'), join(own, 'package.json'));
    return project;
  }

  path(file: string): string {
    return join(this.folder, file);
  }

  write(file: string, text: string): string {
    mkdirSync(dirname(this.path(file)), { recursive: true });
    writeFileSync(this.path(file), text);
    return this.path(file);
  }

  /** Writes a TypeScript file of this folder as JavaScript. The name of the output chooses its format. */
  compile(source: string, file: string): string {
    const { code } = transformFileSync(join(__dirname, source), {
      configFile: false,
      swcrc: false,
      jsc: {
        target: 'es2022',
        parser: { syntax: 'typescript', decorators: true },
        transform: { legacyDecorator: true, decoratorMetadata: true },
        keepClassNames: true,
      },
      module: { type: file.endsWith('.mjs') ? 'es6' : 'commonjs', ignoreDynamic: true },
    });
    return this.write(file, code);
  }

  /** Runs a program of this project, and returns its output. */
  async run(args: readonly string[]): Promise<string> {
    const { stdout } = await run(process.execPath, args, { cwd: this.folder, encoding: 'utf8' });
    return stdout;
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }

  private link(missing: readonly string[]): void {
    const modules = join(ROOT, 'node_modules');
    const names = readdirSync(modules).flatMap(name =>
      name.startsWith('@') ? readdirSync(join(modules, name)).map(inner => `${name}/${inner}`) : [name],
    );
    for (const name of names) {
      if (name.startsWith('.') || missing.includes(name)) continue;
      const path = this.path(join('node_modules', name));
      mkdirSync(dirname(path), { recursive: true });
      symlinkSync(join(modules, name), path, 'junction');
    }
  }
}
