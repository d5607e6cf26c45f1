import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { ToolSurface, toolSurface } from 'nestjs-mcp/testing';
import { startApplication } from '../application.js';
import { counted, headersOf, optionsOf, urlOf, type Io } from '../command.js';
import { diffOf } from '../diff.js';
import { isFile, isFolder } from '../files.js';

const USAGE = `Usage: nestjs-mcp surface (--url <url> | --module <file#Class>) [options]

Prints the tools that models see.

  --url <url>            the endpoint of a server that runs
  --module <file#Class>  the compiled module of an application, which the command starts
                         (default class: AppModule)
  --server <name>        the server of the module (default: the first)
  --header <line>        a header of each request, such as "Authorization: Bearer …"; several times
  --era <era>            modern (2026-07-28, the default) or legacy (2025-11-25)
  --write <file>         write the surface to a file
  --check <file>         compare the surface with a file; the exit code is 1 if it differs
`;

const OPTIONS = {
  url: { type: 'string' },
  module: { type: 'string' },
  server: { type: 'string' },
  header: { type: 'string', multiple: true },
  era: { type: 'string', default: 'modern' },
  write: { type: 'string' },
  check: { type: 'string' },
} as const;

/** Prints the tools of a server as models see them, writes them to a file, or compares them with one. */
export async function surface(args: readonly string[], io: Io): Promise<number> {
  const options = optionsOf(args, OPTIONS, USAGE, io);
  if (!options) return 0;
  const { url, module, server, header, era, write, check } = options.values;
  if ((url === undefined) === (module === undefined)) throw new Error('give either --url or --module');
  if (era !== 'modern' && era !== 'legacy') throw new Error(`--era "${era}": give modern or legacy`);
  if (write !== undefined && check !== undefined) throw new Error('give either --write or --check');
  const expected = check === undefined ? undefined : read(check, io);
  if (write !== undefined) assertWritable(write, io);
  const listing = { era, server, headers: headersOf(header) } as const;
  const { text, tools, tokens } =
    url === undefined ? await ofModule(module!, listing, io) : await ofUrl(url, listing);

  io.err(`${counted(tools.length, 'tool')}, about ${tokens} tokens in each conversation\n`);
  if (check !== undefined) return compare(check, expected!, text, io);
  if (write === undefined) io.out(text);
  else writeFileSync(resolve(io.cwd, write), text);
  return 0;
}

type Listing = Parameters<typeof toolSurface>[1];

async function ofUrl(text: string, listing: Listing): Promise<ToolSurface> {
  const url = urlOf(text);
  const { toolSurface } = await import('nestjs-mcp/testing');
  return await toolSurface(url, listing).catch((error: Failure) => fail(url.href, error));
}

async function ofModule(target: string, listing: Listing, io: Io): Promise<ToolSurface> {
  const { toolSurface } = await import('nestjs-mcp/testing');
  const app = await startApplication(target, io.cwd);
  return await toolSurface(app, listing)
    .catch((error: Failure) => fail(`--module ${target}`, error))
    .finally(() => app.close());
}

/** An error of the SDK's client, or of `fetch`. */
type Failure = NodeJS.ErrnoException & {
  readonly data?: { readonly status?: number; readonly text?: string };
};

function fail(target: string, error: Failure): never {
  throw new Error(`${target}: ${refusalOf(error) ?? reasonOf(error)}`, { cause: error });
}

/** The answer of a server to a caller or a host that it does not know; undefined for another failure. */
function refusalOf({ data }: Failure): string | undefined {
  if (data?.status !== 401 && data?.status !== 403) return undefined;
  const [, message] = /"message":\s*"((?:[^"\\]|\\.)*)"/.exec(data.text ?? '') ?? [];
  const answer = `HTTP ${data.status}${message === undefined ? '' : ` (${message})`}`;
  const remedy = answer.includes('Host header')
    ? 'add the host, for --module 127.0.0.1, to "http.allowedHosts"'
    : '--header "Authorization: Bearer <token>" logs in';
  return `the server answers ${answer}; ${remedy}`;
}

/** The message of the innermost cause, because `fetch` says only that it failed. A missing package has a sentence above it. */
function reasonOf(error: Failure): string {
  let root = error;
  while (root.cause !== undefined) root = root.cause as Failure;
  return root.code?.endsWith('MODULE_NOT_FOUND') ? error.message : root.message || String(root.code);
}

function read(file: string, { cwd }: Io): string {
  const path = resolve(cwd, file);
  if (!isFile(path)) throw new Error(`there is no file ${file}: write it with --write ${file}`);
  return readFileSync(path, 'utf8').replaceAll('\r\n', '\n');
}

function assertWritable(file: string, { cwd }: Io): void {
  const path = resolve(cwd, file);
  if (isFolder(path)) throw new Error(`--write ${file}: this is a folder`);
  if (!isFolder(dirname(path))) throw new Error(`--write ${file}: there is no folder ${dirname(path)}`);
}

/** The name of a tool and its parts are at most six lines, so a difference shows the name. */
const CONTEXT = 5;

function compare(file: string, expected: string, text: string, io: Io): number {
  const differences = diffOf(file, expected, text, CONTEXT);
  if (differences === '') return 0;
  io.out(differences);
  io.err(`The surface differs from ${file}: if that is right, write it with --write ${file}\n`);
  return 1;
}
