import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PEERS } from './file-job.js';

const GROUPS = ['dependencies', 'devDependencies', 'peerDependencies', 'optionalDependencies'];

/** What is read of a `package.json`. */
export interface Manifest {
  readonly version: string;
  readonly [group: string]: unknown;
}

/** Replaces the peers in `package.json`. @returns undefined if nothing changes */
export function convertManifest(
  cwd: string,
  manifest: Manifest,
  hasChanges: boolean,
): { path: string; before: string; text: string } | undefined {
  const groupOf = (group: string) => manifest[group] as Record<string, string> | undefined;
  const holders = GROUPS.filter(group => PEERS.some(name => groupOf(group)?.[name] !== undefined));
  const hasOwn = GROUPS.some(group => groupOf(group)?.['nestjs-mcp'] !== undefined);
  if (holders.length === 0 && (hasOwn || !hasChanges)) return undefined;
  const changed = Object.fromEntries(
    (holders.length > 0 ? holders : ['dependencies']).map(group => [
      group,
      sorted([
        ...Object.entries(groupOf(group) ?? {}).filter(
          ([name]) => !(PEERS as readonly string[]).includes(name),
        ),
        ...(hasOwn ? [] : [['nestjs-mcp', `^${ownVersion()}`] as [string, string]]),
      ]),
    ]),
  );
  const path = join(cwd, 'package.json');
  const before = readFileSync(path, 'utf8');
  const [, indentation = '  '] = /^\{\s*?\n([ \t]+)/.exec(before) ?? [];
  return { path, before, text: `${JSON.stringify({ ...manifest, ...changed }, null, indentation)}\n` };
}

/** The manifest of this package is two folders above the sources, and three above `dist/cli/migrate`. */
function ownVersion(): string {
  const paths = ['../../package.json', '../../../package.json'].map(path => join(__dirname, path));
  return (JSON.parse(readFileSync(paths.find(existsSync)!, 'utf8')) as Manifest).version;
}

const sorted = (entries: readonly [string, string][]) =>
  Object.fromEntries([...entries].sort(([a], [b]) => (a < b ? -1 : 1)));
