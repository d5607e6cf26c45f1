import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, relative, resolve } from 'node:path';
import type { Project } from 'ts-morph';
import { counted, optionsOf, type Io } from '../command.js';
import { diffOf } from '../diff.js';
import { isFile, isFolder, manifestIn } from '../files.js';
import { packageManagerOf } from '../package-manager.js';
import { convert, type Outcome } from './convert.js';
import { COMMENT, type Morph } from './file-job.js';
import { formatterOf, formatted } from './format.js';
import { convertManifest, type Manifest } from './manifest.js';

const USAGE = `Usage: nestjs-mcp migrate [folder] [--project <tsconfig.json>] [--dry-run]

Converts an application from @rekog/mcp-nest 1.x and 2.x, or from @nestjs/mcp, to nestjs-mcp. Without a
folder, it is the application in the current folder.

  --project, -p  the tsconfig in the folder, or the folder that has it (default: tsconfig.json)
  --dry-run      prints the changes as a diff, and writes nothing

The exit code is 1 if a file cannot be converted.
`;

const OPTIONS = {
  project: { type: 'string', short: 'p', default: '.' },
  'dry-run': { type: 'boolean', default: false },
} as const;

/** Converts an application. @throws Error for a mistake in the arguments or the set-up */
export async function migrate(args: readonly string[], io: Io): Promise<number> {
  const options = optionsOf(args, OPTIONS, USAGE, io, 1);
  if (!options) return 0;
  const folder = resolve(io.cwd, options.positionals[0] ?? '.');
  if (!isFolder(folder)) throw new Error(`there is no folder ${folder}`);
  return run({ ...io, cwd: folder }, options.values.project, options.values['dry-run']);
}

/** Converts the application in the folder of `io`. @returns the exit code */
async function run(io: Io, path: string, isDry: boolean): Promise<number> {
  const config = tsconfigOf(resolve(io.cwd, path));
  const manifest = manifestIn<Manifest>(io.cwd);
  const morph = loadMorph(io.cwd);
  const project = projectOf(morph, config);
  if (project.getSourceFiles().length === 0)
    throw new Error(`${config} includes no files: name the tsconfig of the application with --project`);
  const before = new Map(
    project.getSourceFiles().map(one => [one.getFilePath() as string, one.getFullText()]),
  );
  const outcome = convert(morph, project);
  const texts = await textsOf(io.cwd, project, outcome, before);
  const packages = convertManifest(io.cwd, manifest, outcome.files.length > 0);
  if (packages) {
    before.set(packages.path, packages.before);
    texts.set(packages.path, packages.text);
  }
  for (const [file, text] of texts)
    if (isDry) io.out(diffOf(relative(io.cwd, file), before.get(file) ?? '', text));
    else writeFileSync(file, text);
  report(io, config, outcome, texts, isDry);
  return outcome.failed.length > 0 ? 1 : 0;
}

/** @throws Error that names the tsconfig, if the compiler cannot read it */
function projectOf(morph: Morph, config: string): Project {
  try {
    return new morph.Project({
      tsConfigFilePath: config,
      manipulationSettings: {
        indentationText: morph.IndentationText.TwoSpaces,
        quoteKind: morph.QuoteKind.Single,
        useTrailingCommas: true,
      },
    });
  } catch (error) {
    throw new Error(`${config}: ${(error as Error).message}`, { cause: error });
  }
}

/** The texts of the changed files, formatted if the application formats them. */
async function textsOf(
  cwd: string,
  project: Project,
  outcome: Outcome,
  before: ReadonlyMap<string, string>,
): Promise<Map<string, string>> {
  const texts = new Map<string, string>();
  const format = formatterOf(cwd);
  for (const file of outcome.files) {
    const text = project.getSourceFileOrThrow(file).getFullText();
    texts.set(file, await formatted(format, file, before.get(file), text));
  }
  return texts;
}

function report(
  io: Io,
  config: string,
  { failed, changes, comments }: Outcome,
  texts: ReadonlyMap<string, string>,
  isDry: boolean,
): void {
  for (const { path, reason } of failed)
    io.err(`${relative(io.cwd, path)} is left as it was, because its conversion failed: ${reason}\n`);
  if (texts.size === 0)
    return failed.length > 0
      ? undefined
      : io.err(`Nothing to do in the files of ${relative(io.cwd, config)}\n`);
  const counts = [counted(texts.size, 'file'), counted(changes, 'change'), counted(comments, 'comment')];
  io.err(`${counts.join(', ')}${isDry ? '; nothing is written' : ''}\n`);
  for (const [file, text] of texts)
    text.split('\n').forEach((line, index) => {
      const at = line.indexOf(COMMENT);
      if (at >= 0) io.err(`${relative(io.cwd, file)}:${index + 1}: ${line.slice(at + COMMENT.length)}\n`);
    });
  if (!isDry)
    io.err(`Next: run ${packageManagerOf(io.cwd)} install, compile, and start the application. Packages that nothing uses any
more can go, such as @modelcontextprotocol/sdk and @nestjs/microservices.
`);
}

/** @throws Error if there is none */
function tsconfigOf(path: string): string {
  const file = path.endsWith('.json') ? path : join(path, 'tsconfig.json');
  if (!isFile(file))
    throw new Error(`there is no ${file}: name the tsconfig of the application with --project`);
  return file;
}

/** The application's `ts-morph`, or the one that npx has installed beside this package. */
function loadMorph(cwd: string): Morph {
  for (const from of [join(cwd, 'package.json'), __filename])
    try {
      return createRequire(from)('ts-morph') as Morph;
    } catch {
      // The next place.
    }
  throw new Error('ts-morph is not installed. Run: npx -p nestjs-mcp -p ts-morph nestjs-mcp migrate');
}
