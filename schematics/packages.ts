import type { SchematicContext, Tree } from '@angular-devkit/schematics';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isInstalled, manifestOf, type Manifest } from './application.js';

const GROUPS = ['dependencies', 'devDependencies', 'peerDependencies', 'optionalDependencies'] as const;

/**
 * Adds the packages that the application's `package.json` does not name, in the range of this package's peers. If one is not
 * installed, which an earlier run may have failed at, it has them installed when the files are written.
 */
export function addPackages(
  tree: Tree,
  context: SchematicContext,
  wanted: Readonly<Partial<Record<'dependencies' | 'devDependencies', readonly string[]>>>,
): void {
  const manifest = manifestOf(tree);
  if (!manifest) return;
  const groupOf = (group: string) => (manifest[group] ?? {}) as Record<string, string>;
  const nest = groupOf('dependencies')['@nestjs/common'];
  const known = GROUPS.flatMap(group => Object.keys(groupOf(group)));
  const changes = Object.entries(wanted).flatMap(([group, names]) => {
    const missing = names.filter(name => !known.includes(name));
    const ranges = missing.map((name): [string, string] => [name, rangeOf(name, nest)]);
    return missing.length > 0 ? [[group, sorted([...Object.entries(groupOf(group)), ...ranges])]] : [];
  });
  if (changes.length > 0) {
    const text = tree.readText('/package.json');
    const [, indentation = '  '] = /^\{\s*?\n([ \t]+)/.exec(text) ?? [];
    tree.overwrite(
      '/package.json',
      `${JSON.stringify({ ...manifest, ...Object.fromEntries(changes) }, null, indentation)}\n`,
    );
  } else if (Object.values(wanted).flat().every(isInstalled)) return;
  context.addTask({
    toConfiguration: () => ({ name: 'node-package', options: { command: 'install', quiet: true } }),
  });
}

/** The newest major that this package allows; for a package of Nest, the major of the application. */
function rangeOf(name: string, nest = ''): string {
  const { peerDependencies } = readOwnManifest();
  const ranges = (peerDependencies as Record<string, string>)[name].split('||').map(range => range.trim());
  const [major] = /\d+/.exec(nest) ?? [];
  const ofNest = name.startsWith('@nestjs/')
    ? ranges.find(range => range.startsWith(`^${major}.`))
    : undefined;
  return ofNest ?? ranges[ranges.length - 1];
}

/** The manifest of this package is above `schematics`, and two folders above `dist/schematics`. */
function readOwnManifest(): Manifest {
  const paths = ['../package.json', '../../package.json'].map(path => join(__dirname, path));
  return JSON.parse(readFileSync(paths.find(existsSync)!, 'utf8')) as Manifest;
}

const sorted = (entries: readonly (readonly [string, string])[]) =>
  Object.fromEntries([...entries].sort(([a], [b]) => (a < b ? -1 : 1)));
