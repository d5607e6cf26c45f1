import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { run } from '../../cli/run.js';

export const ROOT = join(__dirname, '../..');

const folders: string[] = [];

afterAll(() => folders.forEach(folder => rmSync(folder, { recursive: true, force: true })));

/** A folder with files, which is gone after the tests. */
export function folderWith(files: Readonly<Record<string, string>>): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'cli-')));
  folders.push(folder);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return folder;
}

/** Runs a command line in a folder. */
export async function runIn(cwd: string, ...args: readonly string[]) {
  let [out, err] = ['', ''];
  const code = await run(args, { cwd, out: text => (out += text), err: text => (err += text) });
  return { code, out, err };
}
