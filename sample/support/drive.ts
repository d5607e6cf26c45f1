import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import {
  Client,
  StreamableHTTPClientTransport,
  type CallToolResult,
  type ClientCapabilities,
  type ElicitResult,
} from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

/** The revisions that every sample is driven in. */
export const REVISIONS = ['2026-07-28', '2025-11-25'] as const;
export type Revision = (typeof REVISIONS)[number];

/** How long a sample may take to print a line, or a drive to end, in milliseconds. */
const LINE_TIMEOUT = 20_000;
const DRIVE_TIMEOUT = 60_000;

/** A process of a sample. */
export interface RunningProcess {
  /** What it has printed so far; all of it, once it has stopped. */
  readonly lines: readonly string[];
  /** The first line on its stdout, printed already or yet to come, that matches. */
  printed(pattern: RegExp): Promise<RegExpExecArray>;
  /** Ends it as a process manager would, and waits until it is gone. */
  stop(): Promise<void>;
  /** Ends it as a crash would, in the middle of whatever it does, and waits until it is gone. */
  kill(): Promise<void>;
}

/** The process of a sample that serves HTTP. */
export interface RunningSample extends RunningProcess {
  /** Its endpoint, as it printed it. */
  readonly url: string;
}

/** The compiled `main.ts` of a sample. */
export const mainOf = (sample: string): string => fileOf(`${sample}/main`);

const fileOf = (script: string): string => resolve(__dirname, '..', `${script}.js`);

/** Starts a script of a sample: `62-bullmq/worker`, or a file that is named with its whole path. */
export function startProcess(script: string, env: Readonly<Record<string, string>> = {}): RunningProcess {
  const child = spawn(process.execPath, [fileOf(script)], {
    env: { ...process.env, NO_COLOR: '1', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  process.once('exit', () => child.kill());
  const closed = once(child, 'close');
  const end = async (signal: NodeJS.Signals) => {
    child.kill(signal);
    await closed;
  };
  const ended = new AbortController();
  const lines: string[] = [];
  const reader = createInterface({ input: child.stdout })
    .on('line', line => {
      lines.push(line);
      if (line.startsWith('  ')) console.log(line);
    })
    .on('close', () => ended.abort(new Error(`${script} ended after these lines:\n${lines.join('\n')}`)));

  const printed = async (pattern: RegExp): Promise<RegExpExecArray> => {
    const signal = AbortSignal.any([ended.signal, AbortSignal.timeout(LINE_TIMEOUT)]);
    for (let next = 0; ; next += 1) {
      if (next === lines.length) await once(reader, 'line', { signal });
      const match = pattern.exec(lines[next]);
      if (match) return match;
    }
  };

  return { lines, printed, stop: () => end('SIGTERM'), kill: () => end('SIGKILL') };
}

/** Starts a sample on a free port. */
export async function startSample(
  sample: string,
  env: Readonly<Record<string, string>> = {},
): Promise<RunningSample> {
  const running = startProcess(`${sample}/main`, { PORT: '0', ...env });
  const [, url] = await running.printed(/^(?:MCP endpoint|Identity provider): (\S+)/);
  return { ...running, url };
}

const clientFor = (revision: Revision): Client =>
  new Client(
    { name: 'sample-drive', version: '1.0.0' },
    { versionNegotiation: { mode: revision === '2026-07-28' ? { pin: revision } : 'legacy' } },
  );

/** A user who is asked something in the middle of a call. */
export type User = (message: string) => ElicitResult | Promise<ElicitResult>;

/** Connects the official client over HTTP. */
export async function connect(
  url: string,
  revision: Revision,
  {
    token,
    user,
    headers = {},
    extensions,
  }: {
    token?: string;
    user?: User;
    headers?: Record<string, string>;
    extensions?: ClientCapabilities['extensions'];
  } = {},
): Promise<Client> {
  const client = clientFor(revision);
  if (extensions) client.registerCapabilities({ extensions });
  if (user) {
    client.registerCapabilities({ elicitation: { form: {} } });
    client.setRequestHandler('elicitation/create', ({ params }) => user(params.message));
  }
  let onStream = () => {};
  const streamAnswered = new Promise<void>(resolve => (onStream = resolve));
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    requestInit: {
      headers: { ...headers, ...(token !== undefined && { authorization: `Bearer ${token}` }) },
    },
    fetch: async (input, init) => {
      const response = await fetch(input, init);
      if (init?.method === 'GET') onStream();
      return response;
    },
  });
  await client.connect(transport);
  // A 2025-era client opens its stream for notifications in the background: before that, it would miss some.
  if (client.getProtocolEra() === 'legacy') await streamAnswered;
  assert.equal(client.getNegotiatedProtocolVersion(), revision);
  return client;
}

/** Lets the official client start a sample and talk to it over stdin and stdout. */
export async function connectStdio(
  sample: string,
  revision: Revision,
  { args = [], onStderr = () => {} }: { args?: string[]; onStderr?: (text: string) => void } = {},
): Promise<Client> {
  const client = clientFor(revision);
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [mainOf(sample), ...args],
    stderr: 'pipe',
  });
  transport.stderr?.on('data', (chunk: Buffer) => onStderr(chunk.toString()));
  await client.connect(transport);
  assert.equal(client.getNegotiatedProtocolVersion(), revision);
  return client;
}

/** Checks one step and prints it with what it showed. Against a pattern, a text has to match. */
export function check(step: string, actual: unknown, expected: unknown): void {
  const shown = typeof actual === 'string' ? actual : JSON.stringify(actual);
  try {
    if (expected instanceof RegExp) assert.match(String(actual), expected);
    else assert.deepEqual(actual, expected);
  } catch (error) {
    console.log(`  FAILED  ${step} -> ${shown}`);
    throw error;
  }
  console.log(`  ok  ${step} -> ${shown}`);
}

/** The text of a tool's result. */
export const textOf = ({ content }: Pick<CallToolResult, 'content'>): string =>
  content.map(block => (block.type === 'text' ? block.text : '')).join('');

/** The JSON-RPC error that a call is refused with. */
export async function errorOf(call: Promise<unknown>): Promise<{ code: number; message: string }> {
  const error = await call.then(
    () => assert.fail('The call was not refused'),
    (thrown: unknown) => thrown as { code: number; message: string },
  );
  return { code: error.code, message: error.message };
}

/**
 * Runs a drive: the process exits with 0 when it passes, with 1 when it fails or takes too long.
 * @param timeoutMs how long it may take, in milliseconds
 */
export function drive(run: () => Promise<void>, timeoutMs = DRIVE_TIMEOUT): void {
  const fail = (error: unknown) => {
    console.error(error);
    process.exit(1);
  };
  const timer = setTimeout(() => fail(new Error(`The drive took more than ${timeoutMs} ms`)), timeoutMs);
  run().then(() => clearTimeout(timer), fail);
}
