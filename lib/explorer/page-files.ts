import { hash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';

export interface PageFile {
  readonly type: string;
  readonly body: Buffer;
  readonly etag: string;
}

export const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** The files that browsers get, by name. The build writes the modules: the sources have only the other files. */
export async function readPage(): Promise<ReadonlyMap<string, PageFile>> {
  const folder =
    typeof __dirname === 'string' ? join(__dirname, 'page') : (await import('./page-folder.mjs')).pageFolder;
  const files = new Map<string, PageFile>();
  for (const name of await readdir(folder)) {
    const type = TYPES[extname(name)];
    if (!type) continue;
    const body = await readFile(join(folder, name));
    files.set(name, { type, body, etag: `"${hash('sha256', body, 'base64url')}"` });
  }
  return files;
}
