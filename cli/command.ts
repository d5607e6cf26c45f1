import { parseArgs, type ParseArgsConfig } from 'node:util';

/** Where a command runs, and where its output goes. A text ends with a line break. */
export interface Io {
  readonly cwd: string;
  out(text: string): void;
  err(text: string): void;
}

/** A command of `nestjs-mcp`. @returns its exit code */
export type Command = (args: readonly string[], io: Io) => Promise<number>;

type Options = NonNullable<ParseArgsConfig['options']>;

/**
 * Reads the options of a command. `--help` prints its usage, of which the first line shows the arguments.
 * @param most the number of arguments beside options that the command takes
 * @returns undefined after `--help`
 * @throws Error for an option or an argument that the command does not have
 */
export function optionsOf<T extends Options>(
  args: readonly string[],
  options: T,
  usage: string,
  io: Io,
  most = 0,
) {
  const { values, positionals } = parsed(args, options);
  if ((values as { help?: boolean }).help) {
    io.out(usage);
    return undefined;
  }
  if (positionals.length > most)
    throw new Error(`unexpected argument "${positionals[most]}"\n${usage.split('\n')[0]}`);
  return { values, positionals };
}

function parsed<T extends Options>(args: readonly string[], options: T) {
  try {
    return parseArgs({
      args: [...args],
      options: { ...options, help: { type: 'boolean', short: 'h' } },
      allowPositionals: true,
    });
  } catch (error) {
    // Node proposes to pass an unknown option as an argument.
    throw new Error((error as Error).message.split('. To specify a positional')[0], { cause: error });
  }
}

/** `1 tool`, `2 tools`. */
export const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

/** The headers of `--header 'Name: value'`. */
export function headersOf(lines: readonly string[] = []): Record<string, string> {
  return Object.fromEntries(
    lines.map(line => {
      const [, name, value] = /^([\w!#$%&'*+.^`|~-]+):\s*(.*)$/.exec(line) ?? [];
      if (name === undefined) throw new Error(`--header "${line}": write "Name: value"`);
      return [name, value];
    }),
  );
}

/** @throws Error for what is no HTTP URL */
export function urlOf(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:')
    throw new Error(`--url "${text}": write the URL of an endpoint, such as http://localhost:3000/mcp`);
  return url;
}
