import type { ClientCapabilities, Transport } from '@modelcontextprotocol/server';
import { MAX_TIMER_MS } from '../constants.js';
import type { Check } from '../option-check.js';
import { isText } from '../option-rules.js';
import { isRecord } from '../schema/plain-json.js';

/** What is wrong with configured HTTP headers, if anything is. */
export function problemOfHeaders(headers: ConnectionOptions['headers']): string | undefined {
  const own = Object.keys(headers ?? {}).find(name => /^mcp-/i.test(name));
  return own === undefined
    ? undefined
    : `"headers" must not have ${JSON.stringify(own)}, for headers that begin with "Mcp-" are the protocol's own`;
}

/** How to reach an MCP server: by `url`, by `command`, or over a transport of one's own. */
export interface ConnectionOptions {
  /** Streamable HTTP endpoint. */
  url?: string | URL;
  /** HTTP headers of every request, or what makes them anew for each; those of the protocol, `Mcp-*`, are its own. */
  headers?: Record<string, string> | (() => Record<string, string> | Promise<Record<string, string>>);
  /** A program to start, which speaks the protocol on its stdin and stdout. */
  command?: string;
  /** Its arguments. */
  args?: string[];
  /** Its environment, beside the few variables that any program needs. */
  env?: Record<string, string>;
  /** Its working folder. Default: this process's. */
  cwd?: string;
  /** What becomes of its stderr. Default: `inherit`. */
  stderr?: 'inherit' | 'ignore';
  /** Makes a transport for each connection. */
  transport?: () => Transport | Promise<Transport>;
  /** The era to speak: `modern` for 2026-07-28, `legacy` for the 2025 revisions. Default: `auto`, by asking the server. */
  era?: 'auto' | 'modern' | 'legacy';
  /** What the client says it can do. Default: nothing. */
  capabilities?: ClientCapabilities;
  /** How long a connection may take to open, in milliseconds. Default: 10,000. */
  connectTimeoutMs?: number;
  /** How long the first new attempt waits after a failed one, in milliseconds; it doubles each time. Default: 100. */
  reconnectDelayMs?: number;
  /** The longest wait between attempts, in milliseconds. Default: 30,000. */
  maxReconnectDelayMs?: number;
  /** The largest answer that is read, in bytes. Default: 8 MiB (8,388,608). */
  maxResponseBytes?: number;
}

/** The names of a connection's options. */
export const CONNECTION_OPTIONS: readonly (keyof ConnectionOptions)[] = [
  'url',
  'headers',
  'command',
  'args',
  'env',
  'cwd',
  'stderr',
  'transport',
  'era',
  'capabilities',
  'connectTimeoutMs',
  'reconnectDelayMs',
  'maxReconnectDelayMs',
  'maxResponseBytes',
];
const COUNTS = ['connectTimeoutMs', 'reconnectDelayMs', 'maxReconnectDelayMs', 'maxResponseBytes'] as const;
const WAYS = ['url', 'command', 'transport'] as const;

/**
 * Checks a connection's options, for clients and for the backends of a gateway. Unknown names are for the caller to check.
 * @throws whatever `check` throws, for an option that is missing or out of range
 */
export function checkConnection(options: ConnectionOptions, check: Check): void {
  checkWay(options, check);
  const { era, capabilities } = options;
  check(
    era === undefined || ['auto', 'modern', 'legacy'].includes(era),
    '"era" must be "auto", "modern" or "legacy"',
  );
  check(capabilities === undefined || isRecord(capabilities), '"capabilities" must be an object');
  for (const name of COUNTS) if (options[name] !== undefined) check.count(options[name], name, MAX_TIMER_MS);
}

function checkWay(options: ConnectionOptions, check: Check): void {
  const ways = WAYS.filter(way => options[way] !== undefined);
  check(ways.length === 1, 'it needs one of "url", "command" and "transport"');
  const { url, command, transport } = options;
  check(
    url === undefined || (URL.canParse(String(url)) && /^https?:$/.test(new URL(url).protocol)),
    '"url" must be an absolute URL with http or https, such as "https://example.com/mcp"',
  );
  check(command === undefined || isText(command), '"command" must name a program');
  check(
    transport === undefined || typeof transport === 'function',
    '"transport" must be a function that makes a transport for each connection',
  );
  check(options.headers === undefined || url !== undefined, '"headers" is only for a server at a "url"');
  const problem = problemOfHeaders(options.headers);
  check(problem === undefined, String(problem));
  for (const name of ['args', 'env', 'cwd', 'stderr'] as const) {
    check(options[name] === undefined || command !== undefined, `"${name}" is only for a "command"`);
  }
}
