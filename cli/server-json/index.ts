import type { INestApplication } from '@nestjs/common';
import { startApplication } from '../application.js';
import { optionsOf, urlOf, type Io } from '../command.js';
import { manifestIn } from '../files.js';
import { describeServer, type Manifest, type ServerInfo } from './describe-server.js';

const USAGE = `Usage: nestjs-mcp server.json --module <file#Class> [options]

Prints the file with which the MCP registry lists a server. The name, the version and the title are
those of the server; the description and the repository are those of package.json.

  --module <file#Class>  the compiled module of the application, which the command starts
                         (default class: AppModule)
  --server <name>        the server of the module (default: the first)
  --name <name>          the name in the registry, such as com.example/shop
                         (default: "mcpName" of package.json, or io.github.<owner>/<server>)
  --description <text>   at most 100 characters (default: that of package.json)
  --url <url>            the public endpoint; several times
  --npm                  the npm package of package.json starts the server over stdio
`;

const OPTIONS = {
  module: { type: 'string' },
  server: { type: 'string' },
  name: { type: 'string' },
  description: { type: 'string' },
  url: { type: 'string', multiple: true },
  npm: { type: 'boolean', default: false },
} as const;

/** What the command reads of the servers of an application. */
interface Servers {
  get(name?: string): { readonly info: ServerInfo } | undefined;
}

/** Prints the `server.json` of the MCP registry. */
export async function serverJson(args: readonly string[], io: Io): Promise<number> {
  const options = optionsOf(args, OPTIONS, USAGE, io);
  if (!options) return 0;
  const { module, server, url = [], ...given } = options.values;
  if (module === undefined) throw new Error('give --module, such as --module dist/app.module.js');
  const urls = url.map(text => urlOf(text).href);
  const manifest = manifestIn<Manifest>(io.cwd);

  const app = await startApplication(module, io.cwd);
  try {
    const description = describeServer(infoOf(app, server), manifest, { ...given, urls });
    io.out(`${JSON.stringify(description, null, 2)}\n`);
  } finally {
    await app.close();
  }
  return 0;
}

function infoOf(app: INestApplication, name: string | undefined): ServerInfo {
  // The token of McpServers, which every copy of the package knows.
  const info = app.get<Servers>('nestjs-mcp:servers', { strict: false }).get(name)?.info;
  if (!info)
    throw new Error(`the application has no MCP server ${name === undefined ? '' : `"${name}"`}`.trim());
  return info;
}
