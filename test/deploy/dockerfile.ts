import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';

/** What the last stage says about the process that it starts. */
interface Image {
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  readonly uid?: number;
  readonly command: readonly string[];
  readonly healthcheck: readonly string[];
}

class Stage {
  readonly root = mkdtempSync(join(tmpdir(), 'stage-'));
  readonly env: Record<string, string> = {};
  workdir = '/';
  uid?: number;
  command: string[] = [];
  healthcheck: string[] = [];

  constructor() {
    // For the user of the image.
    chmodSync(this.root, 0o755);
  }

  get folder(): string {
    return join(this.root, this.workdir);
  }
}

/**
 * Runs the instructions of a Dockerfile on this machine, for lack of a Docker daemon: each stage is a folder, and a base image is
 * the Node of this machine. It knows the instructions that `deploy/Dockerfile` has, and throws at others.
 */
export class Dockerfile {
  private readonly stages = new Map<string, Stage>();
  private readonly image: Stage;

  /**
   * @param file its path
   * @param context folder of the application
   */
  constructor(file: string, context: string) {
    const ignored = readFileSync(`${file}.dockerignore`, 'utf8').split('\n').filter(Boolean).map(patternOf);
    const names = readdirSync(context).filter(name => !ignored.some(pattern => pattern.test(name)));
    let stage = new Stage();
    this.stages.set('', stage);
    for (const [, instruction, rest] of readFileSync(file, 'utf8').matchAll(/^([A-Z]+) (.*)$/gm)) {
      if (instruction === 'FROM') {
        stage = new Stage();
        this.stages.set(/ AS (\w+)$/.exec(rest)?.[1] ?? '', stage);
      } else if (instruction === 'WORKDIR') {
        stage.workdir = rest;
        mkdirSync(stage.folder, { recursive: true });
      } else if (instruction === 'ENV') {
        Object.assign(stage.env, Object.fromEntries(rest.split(' ').map(one => one.split('='))));
      } else if (instruction === 'RUN') {
        run(stage, rest);
      } else if (instruction === 'USER') {
        stage.uid = Number(rest);
      } else if (instruction === 'CMD') {
        stage.command = JSON.parse(rest) as string[];
      } else if (instruction === 'HEALTHCHECK') {
        stage.healthcheck = JSON.parse(rest.slice(rest.indexOf('['))) as string[];
      } else if (instruction === 'COPY') {
        const [, from, paths] = /^(?:--from=(\w+) )?(.*)$/.exec(rest)!;
        const sources = paths.split(' ');
        const target = join(stage.folder, sources.pop()!);
        // Moved, for speed: no other line reads it again.
        if (from)
          place(
            sources.map(path => join(this.stages.get(from)!.root, path)),
            target,
            renameSync,
          );
        else
          place(
            sources.flatMap(source => matching(context, names, source)),
            target,
            copy,
          );
      } else if (instruction !== 'EXPOSE') {
        throw new Error(`${instruction}: this runner does not know it`);
      }
    }
    this.image = stage;
  }

  get result(): Image {
    return this.image;
  }

  /** Starts the `CMD` as the `USER`, where this process is root. */
  start(env: Readonly<Record<string, string>>): ChildProcess {
    const [program, ...args] = this.image.command;
    return spawn(program, args, { ...this.options(env), stdio: ['ignore', 'inherit', 'inherit'] });
  }

  /** Whether the `HEALTHCHECK` succeeds. */
  isHealthy(env: Readonly<Record<string, string>>): boolean {
    const [program, ...args] = this.image.healthcheck;
    return spawnSync(program, args, this.options(env)).status === 0;
  }

  remove(): void {
    for (const { root } of this.stages.values()) rmSync(root, { recursive: true });
  }

  private options(env: Readonly<Record<string, string>>) {
    const { folder, env: own, uid } = this.image;
    const isRoot = process.getuid?.() === 0;
    return {
      cwd: folder,
      env: { PATH: process.env['PATH'], ...own, ...env },
      ...(isRoot && { uid, gid: uid }),
    };
  }
}

function run({ folder, env }: Stage, command: string): void {
  const npm = { npm_config_audit: 'false', npm_config_fund: 'false', npm_config_prefer_offline: 'true' };
  const all: NodeJS.ProcessEnv = { ...process.env, ...npm, ...env };
  // Of the test.
  delete all['NODE_OPTIONS'];
  const { status, stdout, stderr } = spawnSync('sh', ['-c', command], {
    cwd: folder,
    env: all,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`RUN ${command} failed: ${stdout}${stderr}`);
}

/** A `*` stands for any part of a name. */
const patternOf = (glob: string) => new RegExp(`^${glob.replaceAll('.', '\\.').replaceAll('*', '.*')}$`);

/** The files of the context that a source of `COPY` names. */
function matching(context: string, names: readonly string[], source: string): string[] {
  const pattern = patternOf(source);
  return names.filter(name => source === '.' || pattern.test(name)).map(name => join(context, name));
}

const copy = (from: string, to: string) => cpSync(from, to, { recursive: true, verbatimSymlinks: true });

/** A source that is named by itself loses its name, if the target has it already. */
function place(
  sources: readonly string[],
  target: string,
  transfer: (from: string, to: string) => void,
): void {
  for (const source of sources)
    transfer(source, basename(source) === basename(target) ? target : join(target, basename(source)));
  if (!existsSync(target)) throw new Error(`COPY to ${target}: there is nothing to copy`);
}
