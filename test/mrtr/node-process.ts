import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const fixtures = join(__dirname, '../fixtures');

/** One node of an application, in a process of its own. */
export class NodeProcess {
  url?: string;
  private child?: ChildProcess;

  /** @param onLine told of every line that the process writes, but for its URL */
  constructor(private readonly onLine: (line: string) => void = () => undefined) {}

  async start(): Promise<void> {
    const child = spawn(
      process.execPath,
      ['--expose-gc', '-r', join(fixtures, 'ts-hook.cjs'), join(fixtures, 'mrtr-flow-app.ts')],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    this.child = child;
    await new Promise<void>(resolve => {
      createInterface({ input: child.stdout }).on('line', line => {
        if (!line.startsWith('http')) return this.onLine(line);
        this.url = `${line}/mcp`;
        resolve();
      });
    });
  }

  async kill(): Promise<void> {
    this.url = undefined;
    const { child } = this;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  }
}
