import { existsSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, relative, resolve } from 'node:path';
import type { Project } from 'ts-morph';
import { optionsOf, type Io } from '../command.js';
import { diffOf } from '../diff.js';
import { convert, type Outcome } from './convert.js';
import { COMMENT, type Morph } from './file-job.js';
import { formatterOf, formatted } from './format.js';
import { convertManifest } from './manifest.js';

const USAGE = `Usage: nestjs-mcp migrate [--project <tsconfig.json>] [--dry-run]

Converts an application from @rekog/mcp-nest 1.x and 2.x, or from @nestjs/mcp, to nestjs-mcp.

  --project, -p  the tsconfig of the application, or its folder. Default: the current folder
  --dry-run      prints the changes as a diff, and writes nothing
`;

const OPTIONS = {
  project: { type: 'string', short: 'p', default: '.' },
  'dry-run': { type: 'boolean', default: false },
} as const;

/** Converts an application. @throws Error for a mistake in the arguments or the set-up */
export async function migrate(args: readonly string[], io: Io): Promise<number> {
  const options = optionsOf(args, OPTIONS, USAGE, io);
  if (options) await run(io, options.values.project, options.values['dry-run']);
  return 0;
}

async function run(io: Io, path: string, isDry: boolean): Promise<void> {
  const config = tsconfigOf(resolve(io.cwd, path));
  const morph = loadMorph(io.cwd);
  const project = new morph.Project({
    tsConfigFilePath: config,
    manipulationSettings: {
      indentationText: morph.IndentationText.TwoSpaces,
      quoteKind: morph.QuoteKind.Single,
      useTrailingCommas: true,
    },
  });
  if (project.getSourceFiles().length === 0)
    throw new Error(`${config} includes no files: name the tsconfig of the application with --project`);
  const before = new Map(
    project.getSourceFiles().map(one => [one.getFilePath() as string, one.getFullText()]),
  );
  const outcome = convert(morph, project);
  const texts = await textsOf(io.cwd, project, outcome, before);
  const manifest = convertManifest(io.cwd, outcome.files.length > 0);
  if (manifest) {
    before.set(manifest.path, manifest.before);
    texts.set(manifest.path, manifest.text);
  }
  if (texts.size === 0) return io.out(`Nothing to do in the files of ${relative(io.cwd, config)}\n`);
  for (const [file, text] of texts)
    if (isDry) io.out(diffOf(relative(io.cwd, file), before.get(file) ?? '', text));
    else writeFileSync(file, text);
  report(io, outcome, texts, isDry);
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
  { files, failed, changes, comments }: Outcome,
  texts: ReadonlyMap<string, string>,
  isDry: boolean,
): void {
  io.out(
    `${files.length} files, ${changes} changes, ${comments} comments${isDry ? '; nothing is written' : ''}\n`,
  );
  for (const [file, text] of texts)
    text.split('\n').forEach((line, index) => {
      const at = line.indexOf(COMMENT);
      if (at >= 0) io.out(`${relative(io.cwd, file)}:${index + 1}: ${line.slice(at + COMMENT.length)}\n`);
    });
  for (const file of failed) io.err(`${relative(io.cwd, file)} is left as it was: convert it by hand\n`);
  if (!isDry) io.out(NEXT);
}

const NEXT = `Next: run npm install, compile, and start the application. Packages that nothing uses any more can go, such as
@modelcontextprotocol/sdk and @nestjs/microservices.
`;

/** @throws Error if there is none */
function tsconfigOf(path: string): string {
  const file = path.endsWith('.json') ? path : join(path, 'tsconfig.json');
  if (!existsSync(file))
    throw new Error(`There is no ${file}: name the tsconfig of the application with --project`);
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
  throw new Error('migrate needs ts-morph. Run: npx -p nestjs-mcp -p ts-morph nestjs-mcp migrate');
}
