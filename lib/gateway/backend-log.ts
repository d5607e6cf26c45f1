import type { LoggerService } from '@nestjs/common';
import { SdkErrorCode } from '@modelcontextprotocol/server';
import type { ConnectionOptions } from '../connection/connection-options.js';
import { ConnectionError } from '../connection/connection.js';
import { logLine } from '../util/log-line.js';
import type { GatewayBackend } from './gateway-options.js';

/** How often failures that go on are logged, in milliseconds. */
const REPEAT_MS = 60_000;
/** How long a backend must answer before its next failure is logged at once, in milliseconds. */
const SETTLED_MS = 10_000;

/** Logs that a backend fails and that it answers again. Counts the failures in between. */
export class BackendLog {
  private isFailing = false;
  /** The failures that were not logged. */
  private count = 0;
  private nextAt = 0;

  constructor(
    private readonly backend: string,
    private readonly logger: Pick<LoggerService, 'warn' | 'log'>,
  ) {}

  failed(problem: string): void {
    const now = Date.now();
    if (now < this.nextAt) {
      this.count += 1;
      return;
    }
    const others = this.count > 0 ? ` (${this.count} failures before this one were not logged)` : '';
    this.logger.warn(logLine(`${problem}${others}`));
    this.isFailing = true;
    this.count = 0;
    this.nextAt = now + REPEAT_MS;
  }

  answered(): void {
    if (!this.isFailing) return;
    const others = this.count > 0 ? `, after ${this.count} more failures` : '';
    this.logger.log(`The backend "${this.backend}" answers again${others}`);
    this.isFailing = false;
    this.count = 0;
    this.nextAt = Math.min(this.nextAt, Date.now() + SETTLED_MS);
  }
}

const MAX_LOGGED = 500;
const MAX_CAUSES = 6;

type Cause = Readonly<Partial<Record<'message' | 'code' | 'syscall' | 'status' | 'cause', unknown>>>;

/** Describes a failure for the log. If the connection failed, the text names the options to check. */
export function problemOf(
  thrown: unknown,
  { name, prefix, options }: { name: string; prefix: string | undefined; options: GatewayBackend },
): string {
  const causes = causesOf(thrown);
  const why = reasonOf(causes);
  if (!(thrown instanceof ConnectionError)) return `The backend "${name}" failed: ${why}`;
  const [what, advice] = adviceFor(options, causes, option => optionOf(prefix, option));
  const rest = prefix === undefined ? '' : '. It is left out of lists until it answers';
  return `The backend "${name}" ${what}: ${why}. ${advice}${rest}`;
}

/** The path of a backend's option, quoted. */
export const optionOf = (prefix: string | undefined, option: string): string =>
  `"${prefix === undefined ? 'backend' : `backends.${prefix}`}.${option}"`;

function adviceFor(
  { url, command }: ConnectionOptions,
  causes: readonly Cause[],
  option: (name: string) => string,
): [what: string, advice: string] {
  if (causes.some(({ code }) => code === SdkErrorCode.RequestTimeout)) {
    const place =
      command === undefined ? 'the server' : 'the program, which has to speak MCP on stdin and stdout';
    return ['did not answer in time', `Check ${place}, or raise ${option('connectTimeoutMs')}`];
  }
  if (causes.some(({ syscall }) => String(syscall).startsWith('spawn'))) {
    return ['cannot be started', `Check ${option('command')}, and ${option('cwd')} if it is set`];
  }
  if (command !== undefined) {
    const run = `Run ${option('command')} with ${option('args')} by hand to see why`;
    return [
      'ended before it answered',
      `${run}; it gets only ${option('env')} and a few variables, such as PATH`,
    ];
  }
  if (url === undefined) return ['cannot be reached', `Check ${option('transport')}`];
  const { origin, pathname } = new URL(url);
  return [`cannot be reached at ${origin}${pathname}`, `Check ${toCheck(causes, option)}`];
}

function toCheck(causes: readonly Cause[], option: (name: string) => string): string {
  const answered = causes.map(({ status, message }) => status ?? /\(HTTP (\d+)\)/.exec(String(message))?.[1]);
  const status = Number(answered.find(one => one !== undefined));
  if (status === 401 || status === 403) return `${option('auth')} or ${option('headers')}`;
  if (status === 404 || status === 405) return `the path in ${option('url')}`;
  return status > 0 ? `${option('url')} and ${option('era')}` : `${option('url')}, and that the server runs`;
}

/** An error and its causes. Errors of `fetch` may not be instances of `Error`. */
function causesOf(thrown: unknown): Cause[] {
  const causes: Cause[] = [];
  for (let next = thrown; typeof next === 'object' && next && causes.length < MAX_CAUSES;) {
    causes.push(next);
    next = (next as Cause).cause;
  }
  return causes.length > 0 ? causes : [{ message: String(thrown) }];
}

/** The messages of an error and its causes. */
export const reasonFor = (thrown: unknown): string => reasonOf(causesOf(thrown));

function reasonOf(causes: readonly Cause[]): string {
  const told = causes[0] instanceof ConnectionError && causes.length > 1 ? causes.slice(1) : causes;
  const texts = told.map(({ message, code }) =>
    (textOf(message) ?? textOf(code) ?? 'unknown').slice(0, MAX_LOGGED),
  );
  return texts
    .filter((text, index) => !texts.slice(0, index).some(earlier => earlier.includes(text)))
    .join(': ');
}

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;
