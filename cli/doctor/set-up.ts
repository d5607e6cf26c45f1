import { readdirSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { isFolder, manifestIn, objectIn, textIn } from '../files.js';
import { deploymentOf, type DeploymentFile } from './deployment.js';

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

/** The files of an application, which doctor reads and does not run. */
export class SetUp {
  readonly manifest: Manifest;
  readonly nestCli: NestCli;
  /** Without their comments. */
  readonly sources: readonly SourceFile[];
  readonly deployment: readonly DeploymentFile[];

  constructor(readonly cwd: string) {
    this.manifest = manifestIn(cwd);
    this.nestCli = objectIn(cwd, 'nest-cli.json') ?? {};
    const root = this.nestCli.sourceRoot ?? 'src';
    this.sources = filesIn(join(cwd, root))
      .filter(path => /\.[cm]?[jt]s$/.test(path) && !path.endsWith('.d.ts'))
      .map(path => join(root, path))
      .map(path => ({ path: path.replaceAll('\\', '/'), text: withoutComments(textIn(cwd, path) ?? '') }));
    this.deployment = deploymentOf(cwd);
  }

  /** A text file of the application; undefined if there is none. */
  textOf(path: string): string | undefined {
    return textIn(this.cwd, path);
  }

  /** The package as a file of the folder finds it. Default: as the application does. */
  installed(name: string, from = this.cwd): Installed | undefined {
    for (let folder = realpathSync(from); ; folder = dirname(folder)) {
      const path = `node_modules/${name}`;
      const manifest = objectIn<Manifest>(folder, `${path}/package.json`);
      if (manifest) return { folder: realpathSync(join(folder, path)), version: manifest.version ?? '' };
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
}

const filesIn = (folder: string): string[] =>
  isFolder(folder)
    ? readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
        path => !path.includes('node_modules'),
      )
    : [];

/** A source without its comments, by a pattern: strings stay, and a regular expression with `//` may end too early. */
const withoutComments = (text: string): string =>
  text.replaceAll(
    /("(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`)|\/\/.*|\/\*[\s\S]*?\*\//g,
    (_, literal: string | undefined) => literal ?? '',
  );

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
