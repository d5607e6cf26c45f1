import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';

const fixtures = join(__dirname, '../fixtures');

interface NodeProcessOptions {
  /** The application, among the fixtures. */
  readonly app?: string;
  /** Of Node. Default: none. */
  readonly flags?: readonly string[];
  /** Of the process, beside those of this one. */
  readonly env?: Readonly<Record<string, string>>;
  /** Told of every line that the process writes, but for its URL. */
  readonly onLine?: (line: string) => void;
  readonly stderr?: 'inherit' | 'pipe';
}

/** One node of an application, in a process of its own. */
export class NodeProcess {
  url?: string;
  private child?: ChildProcess;
  private said?: Promise<string>;

  constructor(private readonly options: NodeProcessOptions = {}) {}

  async start(): Promise<void> {
    const { app = 'mrtr-flow-app.ts', flags = [], env, onLine, stderr = 'inherit' } = this.options;
    const child = spawn(
      process.execPath,
      ['--expose-gc', ...flags, '-r', join(fixtures, 'ts-hook.cjs'), join(fixtures, app)],
      { stdio: ['ignore', 'pipe', stderr], env: { ...process.env, ...env } },
    );
    this.child = child;
    if (child.stderr) this.said = text(child.stderr);
    await new Promise<void>(resolve => {
      createInterface({ input: child.stdout! }).on('line', line => {
        if (!line.startsWith('http')) return onLine?.(line);
        this.url = `${line}/mcp`;
        resolve();
      });
    });
  }

  /** How it has ended by itself, and what it said to that. */
  async exited(): Promise<{ code: number | null; stderr?: string }> {
    const { child, said } = this;
    if (child!.exitCode === null && child!.signalCode === null) await once(child!, 'exit');
    return { code: child!.exitCode, stderr: await said };
  }

  kill(): Promise<void> {
    return this.end('SIGKILL');
  }

  /** Ends it as a process manager would. */
  stop(): Promise<void> {
    return this.end('SIGTERM');
  }

  private async end(signal: NodeJS.Signals): Promise<void> {
    this.url = undefined;
    const { child } = this;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill(signal);
    await exited;
  }
}
