import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import process from 'node:process';

const root = resolve(import.meta.dirname, '../../../..');
const tsc = join(createRequire(import.meta.url).resolve('typescript/package.json'), '../bin/tsc');

/** Builds the package if its last output is older than one of its sources. */
export function buildPackage() {
  if (!isStale('dist/esm/package.json', 'lib')) return;
  execFileSync('npm', ['run', 'build'], {
    cwd: root,
    stdio: ['inherit', process.stderr, 'inherit'],
    shell: process.platform === 'win32',
  });
}

/**
 * Builds the package, and the conformance server and client, each if its last output is older than one of its sources.
 * Returns the programs.
 */
export function build() {
  buildPackage();
  const isOld = name =>
    [`test/suites/conformance/${name}`, 'test/fixtures'].some(sources =>
      isStale(`dist/suites/conformance/${name}/main.js`, sources),
    );
  if (isOld('server') || isOld('client')) {
    execFileSync(process.execPath, [tsc, '-p', 'test/suites/conformance/tsconfig.build.json'], {
      cwd: root,
      stdio: 'inherit',
    });
  }
  const program = name => join(root, 'dist/suites/conformance', name, 'main.js');
  return { server: program('server'), client: program('client') };
}

function isStale(output, sources) {
  const built = join(root, output);
  if (!existsSync(built)) return true;
  const { mtimeMs } = statSync(built);
  const folder = join(root, sources);
  // A folder is as young as its last entry to come or go.
  const files = [folder, ...readdirSync(folder, { recursive: true }).map(file => join(folder, file))];
  return files.some(file => statSync(file).mtimeMs > mtimeMs);
}
