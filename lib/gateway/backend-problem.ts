import { SdkErrorCode } from '@modelcontextprotocol/server';
import type { ConnectionOptions } from '../connection/connection-options.js';
import { ConnectionError } from '../connection/connection.js';

/** A backend, as the log names it. */
export interface NamedBackend {
  readonly name: string;
  /** Its prefix; none for the only one. */
  readonly prefix: string | undefined;
  readonly options: ConnectionOptions;
}

/** How much of an error that a backend may have worded goes to the log. */
const MAX_LOGGED = 500;
const MAX_CAUSES = 6;

interface Cause {
  readonly message?: unknown;
  readonly code?: unknown;
  readonly syscall?: unknown;
  readonly status?: unknown;
  readonly cause?: unknown;
}

/** Says in a sentence what is wrong with a backend, and which of its options to look at if there is no connection. */
export function problemOf(thrown: unknown, { name, prefix, options }: NamedBackend): string {
  const causes = causesOf(thrown);
  const why = reasonOf(causes);
  if (!(thrown instanceof ConnectionError)) return `The backend "${name}" failed: ${why}`;
  const rest = prefix === undefined ? '' : '. It is left out of lists until it answers';
  const option = prefix === undefined ? 'backend' : `backends.${prefix}`;
  const { what, check } = problemWith(options, causes, name => `"${option}.${name}"`);
  return `The backend "${name}" ${what}: ${why}. ${check}${rest}`;
}

function problemWith(
  { url, command }: ConnectionOptions,
  causes: readonly Cause[],
  option: (name: string) => string,
): { what: string; check: string } {
  const isLate = causes.some(({ code }) => code === SdkErrorCode.RequestTimeout);
  if (isLate) {
    const place =
      command === undefined ? `the server` : 'the program, which has to speak MCP on stdin and stdout';
    return {
      what: 'did not answer in time',
      check: `Check ${place}, or raise ${option('connectTimeoutMs')}`,
    };
  }
  if (command !== undefined) {
    const isSpawn = causes.some(({ syscall }) => String(syscall).startsWith('spawn'));
    return isSpawn
      ? {
          what: 'cannot be started',
          check: `Check ${option('command')}, and ${option('cwd')} if it is set`,
        }
      : {
          what: 'ended before it answered',
          check: `Run ${option('command')} with ${option('args')} by hand to see why; it gets only ${option('env')} and a few variables, such as PATH`,
        };
  }
  if (url === undefined) return { what: 'cannot be reached', check: `Check ${option('transport')}` };
  const { origin, pathname } = new URL(url);
  return { what: `cannot be reached at ${origin}${pathname}`, check: `Check ${toCheck(causes, option)}` };
}

/** Which options of a server at a URL to look at. */
function toCheck(causes: readonly Cause[], option: (name: string) => string): string {
  const answered = causes.map(({ status, message }) => status ?? /\(HTTP (\d+)\)/.exec(String(message))?.[1]);
  const status = Number(answered.find(one => one !== undefined));
  if (status === 401 || status === 403) return option('headers');
  if (status === 404 || status === 405) return `the path in ${option('url')}`;
  if (status > 0) return `${option('url')} and ${option('era')}`;
  return `${option('url')}, and that the server runs`;
}

/** An error and what has caused it. Errors of `fetch` may be of another realm, and so no instances of `Error` here. */
function causesOf(thrown: unknown): Cause[] {
  const causes: Cause[] = [];
  let next = thrown;
  while (typeof next === 'object' && next !== null && causes.length < MAX_CAUSES) {
    causes.push(next);
    next = (next as Cause).cause;
  }
  return causes.length > 0 ? causes : [{ message: String(thrown) }];
}

/** What the causes say, each thing once. */
function reasonOf(causes: readonly Cause[]): string {
  const [first, ...others] = causes;
  const told = first instanceof ConnectionError && others.length > 0 ? others : causes;
  const reasons: string[] = [];
  for (const { message, code } of told) {
    const text = textOf(message) ?? textOf(code) ?? 'unknown';
    if (!reasons.some(reason => reason.includes(text))) reasons.push(text);
  }
  return reasons.join(': ');
}

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value.slice(0, MAX_LOGGED) : undefined;
