import { isUtf8 } from 'node:buffer';
import { readFileSync, statSync, unwatchFile, watchFile } from 'node:fs';
import { extname, isAbsolute, resolve } from 'node:path';
import { type InterceptorPolicy, PolicyError, type PolicyFormat, readPolicy } from './policy.js';

const MAX_BYTES = 1024 * 1024;
const FORMATS = new Map<string, PolicyFormat>([
  ['.json', 'json'],
  ['.yaml', 'yaml'],
  ['.yml', 'yaml'],
]);
/** By this time, the watcher has read the file's state for the first time. */
const SECOND_LOOK_MS = 1000;

type Found = string | PolicyError;

/**
 * A policy file: `.json`, `.yaml` or `.yml`, UTF-8, up to 1 MiB. Replace it by renaming, because half of a file can be
 * valid.
 */
export class PolicyFile {
  private readonly fullPath: string;
  private seen?: Found;
  private stop?: () => void;

  /** @param path `.json`, `.yaml` or `.yml`; relative to the current working directory */
  constructor(
    private readonly path: string,
    private readonly options: { readonly pollMs?: number } = {},
  ) {
    this.fullPath = resolve(path);
  }

  /** @throws PolicyError for a file that is missing, unreadable, too large, of an unknown format or not a policy */
  read(): InterceptorPolicy {
    this.seen = this.load();
    return this.parse(this.seen);
  }

  /**
   * Passes each changed policy to `apply` until `close`. It does not keep the process running.
   * @param apply if it throws, the earlier policy stays in force
   * @param onError called once for each content that was not applied; must not throw
   */
  watch(apply: (policy: InterceptorPolicy) => void, onError: (error: Error) => void): void {
    this.close();
    const look = () => this.look(apply, onError);
    // Polls the path, because `fs.watch` follows an inode. It stops working when an editor renames a new file over the
    // old one, or when Kubernetes swaps the symbolic link of a ConfigMap.
    watchFile(this.fullPath, { interval: this.options.pollMs ?? 1000, persistent: false }, look);
    // The watcher compares with its first read, which runs later on another thread. A change between `read` and that
    // first read would go unnoticed.
    const secondLook = setTimeout(look, SECOND_LOOK_MS).unref();
    this.stop = () => {
      unwatchFile(this.fullPath, look);
      clearTimeout(secondLook);
    };
  }

  close(): void {
    this.stop?.();
    this.stop = undefined;
  }

  private look(apply: (policy: InterceptorPolicy) => void, onError: (error: Error) => void): void {
    const found = this.load();
    if (isSame(found, this.seen)) return;
    this.seen = found;
    try {
      apply(this.parse(found));
    } catch (error) {
      onError(error instanceof Error ? error : new Error(String(error)));
    }
  }

  private parse(found: Found): InterceptorPolicy {
    if (found instanceof PolicyError) throw found;
    const format = FORMATS.get(extname(this.path).toLowerCase());
    if (!format) throw this.error(`is of an unknown format; use ${[...FORMATS.keys()].join(', ')}`);
    return readPolicy(found, format, this.path);
  }

  private load(): Found {
    try {
      const stats = statSync(this.fullPath);
      if (!stats.isFile()) return this.error('is not a file');
      if (stats.size > MAX_BYTES) return this.error(`is larger than ${MAX_BYTES} bytes`);
      const bytes = readFileSync(this.fullPath);
      return isUtf8(bytes) ? new TextDecoder().decode(bytes) : this.error('is not UTF-8');
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code !== 'ENOENT') return this.error(`cannot be read: ${code}`);
      const folder = isAbsolute(this.path) ? '' : ` in the working folder ${process.cwd()}`;
      return this.error(`does not exist${folder}`);
    }
  }

  private error(rule: string): PolicyError {
    return new PolicyError(`${this.path}: ${rule}`);
  }
}

const isSame = (one: Found, other?: Found): boolean =>
  one === other ||
  (one instanceof PolicyError && other instanceof PolicyError && one.message === other.message);
