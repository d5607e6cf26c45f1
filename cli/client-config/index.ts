import { headersOf, optionsOf, urlOf, type Io } from '../command.js';
import { objectIn } from '../files.js';
import { CLIENTS, type Target } from './clients.js';

const USAGE = `Usage: nestjs-mcp client-config --for <client> (--url <url> | -- <command> [arguments])

Prints what to paste to connect a client.

  --for <client>   ${Object.keys(CLIENTS).join(', ')}
  --url <url>      the endpoint of the server
  --header <line>  a header of each request, such as "Authorization: Bearer …"; several times
  --name <name>    the name of the server in the client (default: that of package.json)
  -- <command>     the command of a server over stdio, such as: -- node dist/main.js
`;

const OPTIONS = {
  for: { type: 'string' },
  url: { type: 'string' },
  header: { type: 'string', multiple: true },
  name: { type: 'string' },
} as const;

/** Prints the configuration that connects a client to a server. */
export async function clientConfig(args: readonly string[], io: Io): Promise<number> {
  const end = args.indexOf('--');
  const [own, [command, ...rest]] = end < 0 ? [args, []] : [args.slice(0, end), args.slice(end + 1)];
  const options = optionsOf(own, OPTIONS, USAGE, io);
  if (!options) return 0;
  const { for: client, url, header, name = nameIn(io.cwd) } = options.values;
  const names = Object.keys(CLIENTS);
  if (client === undefined) throw new Error(`give --for with one of ${names.join(', ')}`);
  if (!names.includes(client)) throw new Error(`--for "${client}": give one of ${names.join(', ')}`);
  if ((url === undefined) === (command === undefined))
    throw new Error('give either --url, or a command after --');
  if (url === undefined && header) throw new Error('--header needs --url: a command has no headers');
  const target: Target =
    url === undefined ? { command, args: rest } : { url: urlOf(url).href, headers: headersOf(header) };
  const { where, config } = CLIENTS[client](name, target);
  io.err(`${where}\n`);
  io.out(`${config}\n`);
  return 0;
}

/** The name of the application, without its scope. */
function nameIn(cwd: string): string {
  const { name } = objectIn<{ name?: string }>(cwd, 'package.json') ?? {};
  return name?.replace(/^@[^/]*\//, '') ?? 'nest';
}
