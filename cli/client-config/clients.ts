/** The server that a client shall connect to. */
export type Target =
  | { readonly url: string; readonly headers: Readonly<Record<string, string>> }
  | { readonly command: string; readonly args: readonly string[] };

/** What to paste, and where. */
export interface ClientConfig {
  readonly where: string;
  readonly config: string;
}

const SHELL = 'Run:';

/** The clients of `--for`, by their names. */
export const CLIENTS: Readonly<Record<string, (name: string, target: Target) => ClientConfig>> = {
  claude: (name, target) => ({
    where: SHELL,
    config:
      'url' in target
        ? line('claude', 'mcp', 'add', '--transport', 'http', name, target.url, ...flagsOf(target.headers))
        : line('claude', 'mcp', 'add', name, '--', target.command, ...target.args),
  }),
  vscode: (name, target) => ({
    where: 'Write to .vscode/mcp.json:',
    config: json({ servers: { [name]: { type: 'url' in target ? 'http' : 'stdio', ...entryOf(target) } } }),
  }),
  cursor: (name, target) => ({
    where: 'Write to .cursor/mcp.json:',
    config: json({ mcpServers: { [name]: entryOf(target) } }),
  }),
  inspector: (_name, target) => ({
    where: SHELL,
    config:
      'url' in target
        ? line(
            'npx',
            '@modelcontextprotocol/inspector@latest',
            '--transport',
            'http',
            '--server-url',
            target.url,
            ...flagsOf(target.headers),
          )
        : line('npx', '@modelcontextprotocol/inspector@latest', target.command, ...separated(target.args)),
  }),
};

function entryOf(target: Target): object {
  if ('command' in target) return { command: target.command, args: target.args };
  const { url, headers } = target;
  return { url, ...(Object.keys(headers).length > 0 && { headers }) };
}

const flagsOf = (headers: Readonly<Record<string, string>>): string[] =>
  Object.entries(headers).flatMap(([name, value]) => ['--header', `${name}: ${value}`]);

/** Behind `--`, the inspector passes options to the command. */
function separated(args: readonly string[]): string[] {
  const option = args.findIndex(arg => arg.startsWith('-'));
  return option < 0 ? [...args] : [...args.slice(0, option), '--', ...args.slice(option)];
}

const json = (value: unknown): string => JSON.stringify(value, null, 2);

/** A command line of a POSIX shell. */
const line = (...words: readonly string[]): string =>
  words
    .map(word => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`))
    .join(' ');
