import { extname } from 'node:path';
import type { DirectoryResource, Skill } from '@modelcontextprotocol/server/ext/skills';

const DIRECTORY = 'inode/directory';

const TYPES: Readonly<Record<string, string>> = {
  '.md': 'text/markdown',
  '.txt': 'text/plain',
  '.csv': 'text/csv',
  '.html': 'text/html',
  '.css': 'text/css',
  '.js': 'text/javascript',
  '.mjs': 'text/javascript',
  '.ts': 'text/typescript',
  '.py': 'text/x-python',
  '.sh': 'application/x-sh',
  '.json': 'application/json',
  '.yaml': 'application/yaml',
  '.yml': 'application/yaml',
  '.xml': 'application/xml',
  '.pdf': 'application/pdf',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.gif': 'image/gif',
  '.webp': 'image/webp',
};

/** The MIME type that the name of a file stands for. */
export const mimeTypeOf = (uri: string): string =>
  TYPES[extname(uri).toLowerCase()] ?? 'application/octet-stream';

/**
 * What is in a folder of a skill, by the skill's `resources`; undefined if they have no such folder.
 * @param folders further folders, which may be empty
 */
export function childrenOf(
  { resources }: Skill,
  uri: string,
  folders: readonly string[] = [],
): DirectoryResource[] | undefined {
  if (resources === 'dynamic') return undefined;
  const within = `${uri}/`;
  const children = new Map<string, DirectoryResource>();
  const add = (child: string, more: Omit<DirectoryResource, 'uri' | 'name'>) =>
    children.set(child, { uri: child, name: nameOf(child), ...more });
  for (const folder of folders) {
    if (folder.startsWith(within) && !folder.includes('/', within.length))
      add(folder, { mimeType: DIRECTORY });
  }
  for (const { uri: file, size } of resources) {
    if (!file.startsWith(within)) continue;
    const end = file.indexOf('/', within.length);
    if (end < 0) add(file, { mimeType: mimeTypeOf(file), size });
    else add(file.slice(0, end), { mimeType: DIRECTORY });
  }
  if (children.size === 0 && !folders.includes(uri)) return undefined;
  return [...children.values()].sort((a, b) => (a.uri < b.uri ? -1 : 1));
}

function nameOf(uri: string): string {
  return decodeURIComponent(uri.slice(uri.lastIndexOf('/') + 1));
}
