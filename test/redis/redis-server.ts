import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { tmpdir } from 'node:os';
import { freePort } from '../../sample/support/free-port.js';

const HAS_REDIS = spawnSync('redis-server', ['--version']).status === 0;

/** Tests that need a real Redis. Without `redis-server` they are skipped, and counted as such in Jest's report. */
export function describeWithRedis(name: string, tests: () => void): void {
  if (!HAS_REDIS) {
    // Jest does not print what a skipped file says with `console`.
    process.stderr.write(
      `Skipped, because there is no redis-server (apt-get install redis-server): ${name}\n`,
    );
  }
  // eslint-disable-next-line no-restricted-syntax -- the only tests that need a program that may be missing
  (HAS_REDIS ? describe : describe.skip)(name, tests);
}

/** The same tests for several places. */
describeWithRedis.each =
  <T extends readonly unknown[]>(rows: readonly T[]) =>
  (name: string, tests: (...row: T) => void): void => {
    for (const row of rows) describeWithRedis(name.replace('%s', String(row[0])), () => tests(...row));
  };

/** A `redis-server` of its own, on a free port. */
export class RedisServer {
  private port?: number;
  private child?: ChildProcess;

  /**
   * @param folder where it keeps what it knows (AOF). Default: nothing is kept
   * @param more further arguments
   */
  constructor(
    private readonly folder?: string,
    protected readonly more: string[] = [],
  ) {}

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  get address() {
    return { host: '127.0.0.1', port: this.port! };
  }

  /** The options of `McpRedisModule` for it. */
  get options() {
    return { url: this.url };
  }

  /** On the same port as before, if it ran before. */
  async start(): Promise<void> {
    this.port ??= await freePort();
    const args = ['--port', `${this.port}`, '--bind', '127.0.0.1', '--save', ''];
    args.push('--dir', this.folder ?? tmpdir(), '--appendonly', this.folder ? 'yes' : 'no');
    args.push(...this.more);
    const child = spawn('redis-server', args, { stdio: ['ignore', 'pipe', 'inherit'] });
    this.child = child;
    await new Promise<void>(resolve => {
      createInterface({ input: child.stdout }).on('line', line => {
        if (line.includes('Ready to accept connections')) resolve();
      });
    });
  }

  get isRunning(): boolean {
    const { child } = this;
    return child !== undefined && child.exitCode === null && child.signalCode === null;
  }

  /** Ends it at once. */
  kill(): Promise<void> {
    return this.end('SIGKILL');
  }

  /** Lets it write what it keeps, and ends it. */
  stop(): Promise<void> {
    return this.end('SIGTERM');
  }

  private async end(signal: NodeJS.Signals): Promise<void> {
    const { child } = this;
    if (!child || !this.isRunning) return;
    const exited = once(child, 'exit');
    child.kill(signal);
    await exited;
  }

  /** It keeps its connections, and answers nothing. */
  freeze(): void {
    this.child?.kill('SIGSTOP');
  }

  thaw(): void {
    this.child?.kill('SIGCONT');
  }
}
