import type { Project } from 'ts-morph';
import { convertOtherContexts } from './context.js';
import { FileJob, type Morph } from './file-job.js';
import { convertHandlers } from './handlers.js';
import { convertImports, usedNames } from './imports.js';
import { convertModules } from './modules.js';
import { convertRegistry } from './registry.js';
import { convertStrategies, serversOf } from './strategy.js';
import { keepToolRoles } from './tool-roles.js';
import { controllersOf, convertGuards, convertWiring, noteFilters } from './wiring.js';

/** A file that cannot be converted. */
export interface Failure {
  readonly path: string;
  /** The first line of the error. */
  readonly reason: string;
}

/** What became of a project. */
export interface Outcome {
  /** Paths of the files that are changed or new. */
  readonly files: readonly string[];
  /** Files that are left as they were, because their conversion failed. */
  readonly failed: readonly Failure[];
  /** Automatic changes. */
  readonly changes: number;
  /** Comments for a human. */
  readonly comments: number;
}

/** `@RequireScopes()` and `@AllowAnonymous()` need a module that checks tokens; without it, the server does not start. */
function askForAuth(jobs: readonly FileJob[]): void {
  if (!jobs.some(job => job.takes('RequireScopes') || job.takes('AllowAnonymous'))) return;
  for (const job of jobs) {
    const call = job.file
      .getDescendantsOfKind(job.morph.SyntaxKind.CallExpression)
      .find(one => /^McpModule\.forRoot/.test(one.getExpression().getText()));
    if (call)
      return job.note(
        call,
        'import McpAuthModule.forRoot(), too: guardVerifier() makes your guard its verifier',
      );
  }
}

/** Converts the files of a project in memory; none is saved. */
export function convert(morph: Morph, project: Project): Outcome {
  const files = project.getSourceFiles().filter(one => !one.isDeclarationFile() && !one.isInNodeModules());
  const before = new Map(files.map(one => [one, one.getFullText()]));
  const jobs = files.map(file => new FileJob(morph, file));
  const servers = serversOf(jobs);
  const controllers = controllersOf(jobs);
  const used = new Map(jobs.map(job => [job, usedNames(job)]));
  const concerned = jobs.filter(job => job.isConcerned);
  const failed = new Map<FileJob, string>();
  const convertEach = (some: readonly FileJob[], work: (job: FileJob) => void): void => {
    for (const job of some.filter(one => !failed.has(one)))
      try {
        work(job);
      } catch (error) {
        // Half of a conversion would be worse than none.
        job.file.replaceWithText(before.get(job.file) ?? '');
        failed.set(job, (error as Error).message.split('\n')[0]);
      }
  };
  const done = () => jobs.filter(job => !failed.has(job));

  convertEach(concerned, job => {
    convertModules(job);
    convertStrategies(job, project);
    convertRegistry(job);
    convertHandlers(job, servers);
    convertOtherContexts(job);
    convertGuards(job);
  });
  if (concerned.length > 0) convertEach(jobs, job => convertWiring(job, controllers));
  if (jobs.some(job => job.imports('McpStrategy', 'McpController'))) convertEach(jobs, noteFilters);
  askForAuth(done());
  const roles = keepToolRoles(done(), project);
  convertEach(jobs, job => {
    if (job.changes > 0 || job.isConcerned) convertImports(job, used.get(job)!);
    job.finish();
  });
  const changed = [...files, ...(roles ? [roles] : [])].filter(one => one.getFullText() !== before.get(one));
  return {
    files: changed.map(one => one.getFilePath()),
    failed: [...failed].map(([{ file }, reason]) => ({ path: file.getFilePath(), reason })),
    changes: done().reduce((sum, { changes }) => sum + changes, 0),
    comments: done().reduce((sum, { comments }) => sum + comments, 0),
  };
}
