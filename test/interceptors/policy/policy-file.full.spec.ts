import {
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  unwatchFile,
  utimesSync,
  watchFile,
  writeFileSync,
} from 'node:fs';
import { stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PolicyFile } from '../../../lib/interceptors/policy/policy-file.js';
import { PolicyError } from '../../../lib/interceptors/policy/policy.js';

let folder: string;
let file: PolicyFile | undefined;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'mcp-policy-'));
});

afterEach(() => {
  file?.close();
  rmSync(folder, { recursive: true });
});

const pathOf = (name = 'policy.yaml') => join(folder, name);
const write = (text: string, name?: string) => writeFileSync(pathOf(name), text);
const policy = (timeoutMs: number) => `overrides: { a: { timeoutMs: ${timeoutMs} } }\n`;

describe('read', () => {
  const refusal = (name: string) => {
    try {
      return new PolicyFile(pathOf(name)).read();
    } catch (error) {
      expect(error).toBeInstanceOf(PolicyError);
      return (error as Error).message.replace(`${folder}/`, '');
    }
  };

  it.each(['a.yaml', 'a.yml', 'a.YAML', 'a.json'])('takes the format from the extension of %s', name => {
    write(name.endsWith('.json') ? '{"config": {"a": {}}}' : 'config: { a: {} }', name);
    expect(new PolicyFile(pathOf(name)).read()).toEqual({ overrides: {}, config: { a: {} } });
  });

  it('takes a byte order mark for none of the text', () => {
    write('\ufeff{}', 'a.json');
    expect(new PolicyFile(pathOf('a.json')).read()).toEqual({ overrides: {}, config: {} });
  });

  it('takes a file of 1 MiB', () => {
    write('{}'.padEnd(1024 * 1024));
    expect(new PolicyFile(pathOf()).read()).toEqual({ overrides: {}, config: {} });
  });

  it.each<[string, string, string | Buffer | undefined]>([
    ['missing', 'a.yaml: does not exist', undefined],
    ['too large', 'a.yaml: is larger than 1048576 bytes', '#'.repeat(1024 * 1024 + 1)],
    ['no text', 'a.yaml: is not UTF-8', Buffer.from([0x61, 0xff])],
    ['no policy', 'a.yaml:1:1: a: is unknown; allowed are overrides, config', 'a: 1'],
  ])('refuses a file that is %s', (_what, message, content) => {
    if (content !== undefined) writeFileSync(pathOf('a.yaml'), content);
    expect(refusal('a.yaml')).toBe(message);
  });

  it('refuses an unknown extension', () => {
    write('', 'a.toml');
    expect(refusal('a.toml')).toBe('a.toml: is of an unknown format; use .json, .yaml, .yml');
  });

  it('refuses a folder', () => {
    mkdirSync(pathOf('a.json'));
    expect(refusal('a.json')).toBe('a.json: is not a file');
  });

  it('refuses a file that cannot be reached', () => {
    write('', 'a');
    expect(refusal('a/b.yaml')).toBe('a/b.yaml: cannot be read: ENOTDIR');
  });
});

describe('watch', () => {
  /** What the callbacks were told, in order; `next` waits for what comes next. */
  class Told {
    private readonly events: unknown[] = [];
    private waiting?: () => void;

    push(event: unknown): void {
      this.events.push(event);
      this.waiting?.();
    }

    async next(): Promise<unknown> {
      if (this.events.length === 0) await new Promise<void>(resolve => (this.waiting = resolve));
      return this.events.shift();
    }

    get isEmpty(): boolean {
      return this.events.length === 0;
    }
  }

  /** Reads and watches; a policy is told as its `timeoutMs`, an error as its message. */
  async function watched(check: (timeoutMs?: number) => void = () => undefined): Promise<Told> {
    const told = new Told();
    file = new PolicyFile(pathOf(), { pollMs: 10 });
    file.read();
    file.watch(
      ({ overrides }) => {
        check(overrides['a']?.timeoutMs);
        told.push(overrides['a']?.timeoutMs);
      },
      error => told.push(error.message.replace(`${folder}/`, '')),
    );
    // Only for speed: without it, the first change may fall before the watcher's first look, and is found later.
    await stat(pathOf());
    return told;
  }

  it('applies each change', async () => {
    write(policy(1));
    const told = await watched();
    for (const timeoutMs of [20, 300, 4000]) {
      write(policy(timeoutMs));
      expect(await told.next()).toBe(timeoutMs);
    }
  });

  it('applies a change that was made between read and watch', async () => {
    write(policy(1));
    file = new PolicyFile(pathOf(), { pollMs: 10 });
    file.read();
    write(policy(20));
    const applied = new Promise(resolve => file?.watch(resolve, resolve));
    expect(await applied).toEqual({ overrides: { a: { timeoutMs: 20 } }, config: {} });
  });

  it('applies what is there where nothing was read before', async () => {
    write(policy(1));
    file = new PolicyFile(pathOf(), { pollMs: 10 });
    const applied = new Promise(resolve => file?.watch(resolve, resolve));
    expect(await applied).toEqual({ overrides: { a: { timeoutMs: 1 } }, config: {} });
  });

  it('reports an invalid change and applies the next valid one', async () => {
    write(policy(1));
    const told = await watched();
    write('overrides: { a: { timeoutMs: 2');
    expect(await told.next()).toMatch(/^policy\.yaml: is not valid YAML: .* at line 1, column 31/);
    write('overrides: { a: { timeoutMs: 0 } }');
    expect(await told.next()).toMatch(/^policy\.yaml:1:19: overrides\.a\.timeoutMs: must be a whole number/);
    write(policy(20));
    expect(await told.next()).toBe(20);
    expect(told.isEmpty).toBe(true);
  });

  it('reports what apply throws, once', async () => {
    write(policy(1));
    const told = await watched(timeoutMs => {
      if (timeoutMs === 20) throw new Error('nobody is called a');
    });
    write(policy(20));
    expect(await told.next()).toBe('nobody is called a');
    utimesSync(pathOf(), 1, 1);
    write(policy(300));
    expect(await told.next()).toBe(300);
    expect(told.isEmpty).toBe(true);
  });

  it('reports what apply throws that is no error as one', async () => {
    write(policy(1));
    const told = await watched(() => {
      // eslint-disable-next-line @typescript-eslint/only-throw-error
      throw 'a word';
    });
    write(policy(20));
    expect(await told.next()).toBe('a word');
  });

  it('reports a file that went away, and applies it when it is back, changed or not', async () => {
    write(policy(1));
    const told = await watched();
    for (const timeoutMs of [1, 20]) {
      rmSync(pathOf());
      expect(await told.next()).toBe('policy.yaml: does not exist');
      write(policy(timeoutMs));
      expect(await told.next()).toBe(timeoutMs);
    }
  });

  it('does not repeat what read has thrown, and applies the file when it is there', async () => {
    const late = new PolicyFile(pathOf(), { pollMs: 10 });
    file = late;
    expect(() => late.read()).toThrow('does not exist');
    const told = new Promise(resolve => late.watch(resolve, resolve));
    // The watcher tells its listeners of a file that is missing from the start, one after the other.
    await new Promise<void>(resolve => {
      const listener = () => {
        unwatchFile(pathOf(), listener);
        resolve();
      };
      watchFile(pathOf(), { interval: 10, persistent: false }, listener);
    });
    write(policy(20));
    expect(await told).toEqual({ overrides: { a: { timeoutMs: 20 } }, config: {} });
  });

  it('follows atomic renames', async () => {
    write(policy(1));
    const told = await watched();
    for (const timeoutMs of [2, 3]) {
      write(policy(timeoutMs), 'next');
      renameSync(pathOf('next'), pathOf());
      expect(await told.next()).toBe(timeoutMs);
    }
  });

  it('follows the symbolic links of a mounted ConfigMap', async () => {
    const release = (name: string, timeoutMs: number) => {
      mkdirSync(pathOf(name));
      write(policy(timeoutMs), `${name}/policy.yaml`);
      symlinkSync(name, pathOf('..next'));
      renameSync(pathOf('..next'), pathOf('..data'));
    };
    release('..1', 1);
    symlinkSync('..data/policy.yaml', pathOf());
    const told = await watched();
    release('..2', 2);
    rmSync(pathOf('..1'), { recursive: true });
    expect(await told.next()).toBe(2);
    release('..3', 3);
    expect(await told.next()).toBe(3);
  });

  it('does nothing for a file that was touched', async () => {
    write(policy(1));
    const told = await watched();
    // A file beside it that is watched alike: once its change is seen, the touch has had its chance.
    write(policy(1), 'witness.yaml');
    const witness = new PolicyFile(pathOf('witness.yaml'), { pollMs: 10 });
    try {
      witness.read();
      const seen = new Promise(resolve => witness.watch(resolve, resolve));
      utimesSync(pathOf(), 1, 1);
      expect(statSync(pathOf()).mtimeMs).toBe(1000);
      write(policy(2), 'witness.yaml');
      await seen;
    } finally {
      witness.close();
    }
    write(policy(1));
    write(policy(20));
    expect(await told.next()).toBe(20);
    expect(told.isEmpty).toBe(true);
  });

  it('is replaced by another watch', async () => {
    write(policy(1));
    const told = await watched();
    const second = new Promise(resolve => file?.watch(resolve, resolve));
    await stat(pathOf());
    write(policy(20));
    expect(await second).toEqual({ overrides: { a: { timeoutMs: 20 } }, config: {} });
    expect(told.isEmpty).toBe(true);
  });

  it('ends with close, for this file alone', async () => {
    write(policy(1));
    const told = await watched();
    const first = file;
    const rest = await watched();
    first?.close();
    for (const timeoutMs of [20, 300]) {
      write(policy(timeoutMs));
      expect(await rest.next()).toBe(timeoutMs);
    }
    expect(told.isEmpty).toBe(true);
  });
});
