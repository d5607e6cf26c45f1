import type { Command, Io } from './command.js';

interface Entry {
  readonly summary: string;
  /** Only the command that is named is loaded. */
  readonly load: () => Promise<Command>;
}

const COMMANDS: Readonly<Record<string, Entry>> = {
  surface: {
    summary: 'print the tools that models see, or compare them with a file',
    load: async () => (await import('./surface/index.js')).surface,
  },
  'server.json': {
    summary: 'print the file for the MCP registry',
    load: async () => (await import('./server-json/index.js')).serverJson,
  },
  doctor: {
    summary: 'find what is wrong in the set-up of an application',
    load: async () => (await import('./doctor/index.js')).doctor,
  },
  migrate: {
    summary: 'convert an application from @rekog/mcp-nest or @nestjs/mcp',
    load: async () => (await import('./migrate/index.js')).migrate,
  },
  'client-config': {
    summary: 'print the configuration of a client',
    load: async () => (await import('./client-config/index.js')).clientConfig,
  },
};

const width = Math.max(...Object.keys(COMMANDS).map(name => name.length));

const USAGE = `Usage: nestjs-mcp <command> [options]

${Object.entries(COMMANDS)
  .map(([name, { summary }]) => `  ${name.padEnd(width)}  ${summary}\n`)
  .join('')}
nestjs-mcp <command> --help prints the options of a command.
`;

/** Runs the command that the arguments name. @returns the exit code */
export async function run([name, ...args]: readonly string[], io: Io): Promise<number> {
  if (name === '--help' || name === '-h') {
    io.out(USAGE);
    return 0;
  }
  if (name === undefined || !Object.hasOwn(COMMANDS, name)) {
    io.err(name === undefined ? USAGE : `nestjs-mcp: there is no command "${name}"\n\n${USAGE}`);
    return 1;
  }
  try {
    const command = await COMMANDS[name].load();
    return await command(args, io);
  } catch (error) {
    io.err(`nestjs-mcp ${name}: ${(error as Error).message}\n`);
    return 1;
  }
}
