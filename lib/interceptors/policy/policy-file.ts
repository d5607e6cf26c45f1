import { isUtf8 } from 'node:buffer';
import { readFileSync, statSync, unwatchFile, watchFile } from 'node:fs';
import { extname, resolve } from 'node:path';
import { PolicyError } from './policy-error.js';
import { type InterceptorPolicy, type PolicyFormat, readPolicy } from './policy.js';

const MAX_BYTES = 1024 * 1024;
const FORMATS = new Map<string, PolicyFormat>([
  ['.json', 'json'],
  ['.yaml', 'yaml'],
  ['.yml', 'yaml'],
]);
/** By then the watcher has long had its first look at the file. */
const SECOND_LOOK_MS = 1000;

type Found = string | PolicyError;

/** A policy file: `.json`, `.yaml` or `.yml`, UTF-8, up to 1 MiB. Replace it by renaming: half a file can be valid. */
export class PolicyFile {
  private readonly fullPath: string;
  private seen?: Found;
  private stop?: () => void;

  /** @param path `.json`, `.yaml` or `.yml`; relative to the working directory as it is now */
  constructor(
    private readonly path: string,
    private readonly options: { readonly pollMs?: number } = {},
  ) {
    this.fullPath = resolve(path);
  }

  /** @throws PolicyError for a file that is missing, unreadable, too large, of an unknown extension or not a policy */
  read(): InterceptorPolicy {
    this.seen = this.load();
    return this.parse(this.seen);
  }

  /**
   * Hands over each changed policy until `close`. Does not keep the process alive.
   * @param apply if it throws, the policy before stays in force
   * @param onError called once for each content that was not applied; must not throw
   */
  watch(apply: (policy: InterceptorPolicy) => void, onError: (error: Error) => void): void {
    this.close();
    const look = () => this.look(apply, onError);
    // `fs.watch` follows an inode: it goes deaf when an editor renames a new file over the old one, or when Kubernetes
    // swaps the symbolic link that a ConfigMap is mounted through. Asking for the path's state again does not.
    watchFile(this.fullPath, { interval: this.options.pollMs ?? 1000, persistent: false }, look);
    // The watcher compares with what it found at its first look, on another thread, and does not say when that was. A
    // change since `read` but before that look would go unnoticed.
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
      if (!stats.isFile()) return this.error('is no file');
      if (stats.size > MAX_BYTES) return this.error(`is larger than ${MAX_BYTES} bytes`);
      const bytes = readFileSync(this.fullPath);
      return isUtf8(bytes) ? new TextDecoder().decode(bytes) : this.error('is not UTF-8');
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      return this.error(code === 'ENOENT' ? 'does not exist' : `cannot be read: ${code}`);
    }
  }

  private error(rule: string): PolicyError {
    return new PolicyError(rule, { file: this.path });
  }
}

const isSame = (one: Found, other?: Found): boolean =>
  one === other ||
  (one instanceof PolicyError && other instanceof PolicyError && one.message === other.message);
