import type { ClientCapabilities, Transport } from '@modelcontextprotocol/server';
import {
  COUNT,
  FUNCTION,
  HTTP_URL,
  listOf,
  OBJECT,
  objectOf,
  oneOf,
  TEXT,
  TIME,
} from '../options/option-schema.js';

export function problemOfHeaders(headers: ConnectionOptions['headers']): string | undefined {
  const own = Object.keys(headers ?? {}).find(name => /^mcp-/i.test(name));
  return own === undefined
    ? undefined
    : `must not have ${JSON.stringify(own)}, because the client sets all headers that begin with "Mcp-"`;
}

/** How to reach an MCP server: by `url`, by `command`, or by the application's own `transport`. */
export interface ConnectionOptions {
  /** Streamable HTTP endpoint. */
  url?: string | URL;
  /** HTTP headers of every request, or a function that makes them for each request. `Mcp-*` headers are reserved. */
  headers?: Record<string, string> | (() => Record<string, string> | Promise<Record<string, string>>);
  /** A program to start. It speaks the protocol on its stdin and stdout. */
  command?: string;
  /** Its arguments. */
  args?: string[];
  /** Its environment, in addition to the few variables that every program needs. */
  env?: Record<string, string>;
  /** Its working folder. Default: the folder of this process. */
  cwd?: string;
  /** The target of the program's stderr: `inherit` for this process's stderr, `ignore` for none. Default: `inherit`. */
  stderr?: 'inherit' | 'ignore';
  /** Makes a transport for each connection. */
  transport?: () => Transport | Promise<Transport>;
  /** `modern` for revision 2026-07-28, `legacy` for 2025-11-25 and earlier ones, `auto` to ask the server. Default: `auto`. */
  era?: 'auto' | 'modern' | 'legacy';
  /** The capabilities that the client declares. Default: none. */
  capabilities?: ClientCapabilities;
  /** Deadline for opening a connection, in milliseconds. Default: 10,000. */
  connectTimeoutMs?: number;
  /**
   * Delay before the first new attempt after a failure, in milliseconds. It doubles with each attempt. Default: 100.
   */
  reconnectDelayMs?: number;
  /** The longest delay between attempts, in milliseconds. Default: 30,000. */
  maxReconnectDelayMs?: number;
  /** The largest answer that the client reads, in bytes. Default: 8 MiB (8,388,608). */
  maxResponseBytes?: number;
}

const WAYS = ['url', 'command', 'transport'] as const;
const ONLY_FOR = {
  headers: 'url',
  args: 'command',
  env: 'command',
  cwd: 'command',
  stderr: 'command',
} as const;

/** The schema of the options for clients, backends of a gateway and hosts of interceptors. */
export const CONNECTION = objectOf<ConnectionOptions>(
  {
    url: HTTP_URL,
    headers: { anyOf: [FUNCTION, OBJECT], description: 'an object, or a function that makes one' },
    command: { ...TEXT, description: 'the name of a program' },
    args: listOf({ type: 'string' }, 'a list of strings'),
    env: { ...OBJECT, additionalProperties: { type: 'string' } },
    cwd: TEXT,
    stderr: oneOf('inherit', 'ignore'),
    transport: { ...FUNCTION, description: 'a function that makes a transport for each connection' },
    era: oneOf('auto', 'modern', 'legacy'),
    capabilities: OBJECT,
    connectTimeoutMs: TIME,
    reconnectDelayMs: TIME,
    maxReconnectDelayMs: TIME,
    maxResponseBytes: COUNT,
  },
  {
    problem: (options: ConnectionOptions, name) => {
      if (WAYS.filter(way => options[way] !== undefined).length !== 1) {
        return `${name()} needs one of "url", "command" and "transport"`;
      }
      for (const [key, way] of Object.entries(ONLY_FOR)) {
        if (options[key as keyof typeof ONLY_FOR] === undefined || options[way] !== undefined) continue;
        return `${name(key)} is only for ${way === 'url' ? 'a server at a "url"' : 'a "command"'}`;
      }
      const problem = problemOfHeaders(options.headers);
      return problem && `${name('headers')} ${problem}`;
    },
  },
);
