import { setTimeout as pause } from 'node:timers/promises';
import { serveStdio, StdioServerTransport, type StdioServerHandle } from '@modelcontextprotocol/server/stdio';
import type { McpServerHost } from '../../server/mcp-server-host.js';
import { RunningCalls, SHUTDOWN_GRACE_MS } from '../../server/running-calls.js';
import { gateListen } from './listen-gate.js';
import { reserveStdout } from './reserve-stdout.js';
import { StdinLines } from './stdin-lines.js';

/** Serves a server over the process's stdin and stdout, for both eras. */
export class StdioTransport {
  private handle?: StdioServerHandle;
  private readonly stdout = reserveStdout();
  private readonly running = new RunningCalls();
  private closing?: Promise<void>;

  constructor(private readonly host: McpServerHost) {}

  /** @param onEnd called when the client closed stdin, and the calls that ran by then are answered */
  open(onEnd: () => void): void {
    const { stdin } = process;
    const input = new StdinLines(() => void this.close().then(onEnd));
    stdin.once('error', error => input.destroy(error)).pipe(input);
    const transport = new StdioServerTransport(input, this.stdout.stream);
    this.handle = serveStdio(({ era }) => this.host.forConnection(era, this.running), {
      transport: gateListen(transport, this.host),
      legacy: this.host.options.legacy === 'reject' ? 'reject' : 'serve',
      onerror: error => this.host.reportRejected(error),
    });
  }

  /** Lets the calls that run finish within the server's `shutdownTimeoutMs`, and ends the connection. */
  close(): Promise<void> {
    return (this.closing ??= this.shutDown());
  }

  private async shutDown(): Promise<void> {
    this.host.reportEnded(await this.running.shutDown(this.host.options.shutdownTimeoutMs));
    const over = new AbortController();
    const late = pause(SHUTDOWN_GRACE_MS, undefined, { signal: over.signal }).catch(() => undefined);
    const closed = Promise.all([
      this.running.ended(SHUTDOWN_GRACE_MS),
      this.handle?.close(),
      this.stdout.flushed(),
    ]);
    // A client that does not read its answers keeps neither the connection nor the process.
    await Promise.race([late, closed]);
    over.abort();
    process.stdin.unpipe().pause();
    this.stdout.release();
  }
}
