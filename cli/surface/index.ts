import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { ToolSurface, toolSurface } from 'nestjs-mcp/testing';
import { startApplication } from '../application.js';
import { headersOf, optionsOf, urlOf, type Io } from '../command.js';
import { differencesOf } from './differences.js';

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
  const listing = { era, server, headers: headersOf(header) } as const;
  const found = url === undefined ? await ofModule(module!, listing, io) : await ofUrl(url, listing);

  if (write !== undefined) writeFileSync(resolve(io.cwd, write), found.text);
  const code = check === undefined ? 0 : compare(check, found.text, io);
  if (write === undefined && check === undefined) io.out(found.text);
  const { length } = found.tools;
  io.err(`${length} ${length === 1 ? 'tool' : 'tools'}, about ${found.tokens} tokens in each conversation\n`);
  return code;
}

type Listing = Parameters<typeof toolSurface>[1];

async function ofUrl(text: string, listing: Listing): Promise<ToolSurface> {
  const url = urlOf(text);
  const { toolSurface } = await import('nestjs-mcp/testing');
  try {
    return await toolSurface(url, listing);
  } catch (error) {
    throw new Error(`${url.href}: ${reasonOf(error as NodeJS.ErrnoException)}`, { cause: error });
  }
}

/** The message or the code of the innermost cause: `fetch` says only that it failed. */
function reasonOf({ message, code, cause }: NodeJS.ErrnoException): string {
  return cause === undefined ? message || String(code) : reasonOf(cause as NodeJS.ErrnoException);
}

async function ofModule(target: string, listing: Listing, io: Io): Promise<ToolSurface> {
  const { toolSurface } = await import('nestjs-mcp/testing');
  const app = await startApplication(target, io.cwd);
  return await toolSurface(app, listing).finally(() => app.close());
}

function compare(file: string, text: string, io: Io): number {
  const path = resolve(io.cwd, file);
  if (!existsSync(path)) throw new Error(`${file} does not exist: write it with --write ${file}`);
  const differences = differencesOf(readFileSync(path, 'utf8'), text);
  if (differences === '') return 0;
  io.out(differences);
  io.err(`The surface differs from ${file}: if that is right, write it with --write ${file}\n`);
  return 1;
}
