import { existsSync, readdirSync, readFileSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';

/** What is read of a `package.json`. */
export interface Manifest {
  readonly name?: string;
  readonly version?: string;
  readonly type?: string;
  readonly scripts?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

/** A file of the application. */
export interface SourceFile {
  /** From the folder of the application. */
  readonly path: string;
  readonly text: string;
}

interface NestCli {
  readonly sourceRoot?: string;
  readonly compilerOptions?: { readonly builder?: unknown; readonly tsConfigPath?: string };
}

/** An installed package. */
export interface Installed {
  readonly folder: string;
  readonly version: string;
}

/** The files that deploy an application. */
const DEPLOYMENT =
  /^(Dockerfile(\..+)?|Containerfile|(docker-)?compose\.ya?ml|fly\.toml|Procfile|app\.yaml|render\.yaml)$/;

/** The files of an application, which doctor reads and does not run. */
export class SetUp {
  readonly manifest: Manifest;
  readonly nestCli: NestCli;
  readonly sources: readonly SourceFile[];
  readonly deployment: readonly SourceFile[];

  constructor(readonly cwd: string) {
    this.manifest = this.json('package.json') as Manifest;
    this.nestCli = existsSync(join(cwd, 'nest-cli.json')) ? (this.json('nest-cli.json') as NestCli) : {};
    const root = this.nestCli.sourceRoot ?? 'src';
    this.sources = filesIn(join(cwd, root))
      .filter(path => /\.[cm]?[jt]s$/.test(path) && !path.endsWith('.d.ts'))
      .map(path => this.read(join(root, path)));
    this.deployment = readdirSync(cwd)
      .filter(name => DEPLOYMENT.test(name))
      .map(name => this.read(name));
  }

  /** A text file of the application; undefined if there is none. */
  textOf(path: string): string | undefined {
    return existsSync(join(this.cwd, path)) ? this.read(path).text : undefined;
  }

  /** The package as a file of the folder finds it. Default: as the application does. */
  installed(name: string, from = this.cwd): Installed | undefined {
    for (let folder = realpathSync(from); ; folder = dirname(folder)) {
      const path = join(folder, 'node_modules', name, 'package.json');
      if (existsSync(path)) {
        const { version = '' } = JSON.parse(readFileSync(path, 'utf8')) as Manifest;
        return { folder: dirname(realpathSync(path)), version };
      }
      if (dirname(folder) === folder) return undefined;
    }
  }

  /** A package of the application, such as its TypeScript. */
  load(name: string): unknown {
    return createRequire(join(this.cwd, 'package.json'))(name);
  }

  /** A path as a finding names it. */
  shortened(path: string): string {
    return relative(realpathSync(this.cwd), path) || '.';
  }

  private read(path: string): SourceFile {
    return { path: path.replaceAll('\\', '/'), text: readFileSync(join(this.cwd, path), 'utf8') };
  }

  private json(path: string): unknown {
    const { text } = this.read(path);
    try {
      return JSON.parse(text);
    } catch (error) {
      throw new Error(`${path} is not JSON: ${(error as Error).message}`, { cause: error });
    }
  }
}

const filesIn = (folder: string): string[] =>
  existsSync(folder)
    ? readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
        path => !path.includes('node_modules'),
      )
    : [];

/** The major and the minor version: `[20, 19]` of `^20.19.1`. */
export function versionIn(text: string): readonly [major: number, minor: number] | undefined {
  const [, major, minor = '999'] = /(\d+)(?:\.(\d+))?/.exec(text) ?? [];
  return major === undefined ? undefined : [Number(major), Number(minor)];
}

export const isBefore = (
  version: readonly [number, number] | undefined,
  major: number,
  minor: number,
): boolean => version !== undefined && (version[0] < major || (version[0] === major && version[1] < minor));
