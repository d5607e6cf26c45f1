import { constants } from 'node:fs';
import { open, readdir, realpath, stat } from 'node:fs/promises';
import { isAbsolute, join, relative, sep } from 'node:path';
import type { SkillFileEntry, SkillFiles } from '@modelcontextprotocol/server/ext/skills';

/**
 * The files of one scan of a folder. It follows symbolic links that stay within the folder, because a Kubernetes ConfigMap
 * is made of them. Names with a dot at the start are left out.
 */
export class FolderFiles implements SkillFiles {
  /** Why an entry is not served, by its path. */
  readonly refused = new Map<string, string>();
  /** The folders, by their path, with the paths that they really have. */
  readonly folders = new Map<string, string>();
  private readonly stamps: string[] = [];

  /** @param base the real path of the folder */
  constructor(private readonly base: string) {
    this.folders.set('', base);
  }

  async list(folder: string): Promise<SkillFileEntry[]> {
    const names = (await readdir(await this.within(folder))).filter(name => !name.startsWith('.'));
    return Promise.all(
      names.map(async name => ({
        name,
        kind: await this.kindOf(folder === '' ? name : `${folder}/${name}`),
      })),
    );
  }

  async read(path: string): Promise<Uint8Array> {
    // The real path has no links, unless somebody has just put one there.
    const handle = await open(
      await this.within(path),
      constants.O_RDONLY | ((constants.O_NOFOLLOW as number | undefined) ?? 0),
    );
    try {
      return await handle.readFile();
    } finally {
      await handle.close();
    }
  }

  async walk(folder = ''): Promise<void> {
    for (const { name, kind } of await this.list(folder)) {
      if (kind === 'directory') await this.walk(folder === '' ? name : `${folder}/${name}`);
    }
  }

  /** What has been listed so far. It changes with each file. */
  get stamp(): string {
    return this.stamps.sort().join('\n');
  }

  private async kindOf(path: string): Promise<SkillFileEntry['kind']> {
    try {
      const real = await this.within(path);
      const stats = await stat(real);
      this.stamps.push(`${path} ${real} ${stats.mtimeMs} ${stats.isFile() ? stats.size : ''}`);
      if (stats.isFile()) return 'file';
      if (!stats.isDirectory()) throw new Error('it is neither a file nor a folder');
      if (this.above(path).includes(real)) throw new Error('it is a link to a folder that it is in');
      this.folders.set(path, real);
      return 'directory';
    } catch (error) {
      this.refused.set(path, (error as Error).message);
      return 'unsupported';
    }
  }

  /** @throws Error for a path whose links leave the folder, and if nothing is there */
  private async within(path: string): Promise<string> {
    const real = await realpath(join(this.base, path));
    const inside = relative(this.base, real);
    if (inside === '..' || inside.startsWith(`..${sep}`) || isAbsolute(inside)) {
      throw new Error('it is a link that leaves the folder');
    }
    return real;
  }

  /** The real paths of the folders that a path is in. */
  private above(path: string): (string | undefined)[] {
    const names = path.split('/');
    return names.map((_, count) => this.folders.get(names.slice(0, count).join('/')));
  }
}
