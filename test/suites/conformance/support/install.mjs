import { execFileSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import process from 'node:process';

const conformance = resolve(import.meta.dirname, '..');

/**
 * Installs a folder with a package of its own, unless what its lock file asks for is there already.
 * @param how `install --no-save` for a lock file without the programs of all platforms
 */
export function install(folder, how = ['ci']) {
  const installed = join(folder, 'node_modules/.package-lock.json');
  const { mtimeMs } = statSync(join(folder, 'package-lock.json'));
  if (existsSync(installed) && statSync(installed).mtimeMs >= mtimeMs) return;
  execFileSync('npm', [...how, '--prefix', folder, '--loglevel', 'error'], {
    stdio: 'inherit',
    shell: process.platform === 'win32',
  });
}

/** A Node of version 22.19 or later: this one, or the one that comes with the suite. */
export function modernNode() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major > 22 || (major === 22 && minor >= 19)) return process.execPath;
  install(conformance);
  const node = join(conformance, 'node_modules/.bin/node');
  if (!existsSync(node)) {
    throw new Error(
      `Run this with Node 22.19 or later: npm has none for ${process.platform} ${process.arch}`,
    );
  }
  return node;
}
