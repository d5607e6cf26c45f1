import { serveStdio, StdioServerTransport, type StdioServerHandle } from '@modelcontextprotocol/server/stdio';
import type { McpServerHost } from '../../server/mcp-server-host.js';
import { gateListen } from './listen-gate.js';
import { reserveStdout } from './reserve-stdout.js';

/** Serves a server over the process's stdin and stdout, for both eras. */
export class StdioTransport {
  private handle?: StdioServerHandle;
  private readonly stdout = reserveStdout();

  constructor(private readonly host: McpServerHost) {}

  /** @param onEnd called when the client closed stdin */
  open(onEnd: () => void): void {
    const transport = new StdioServerTransport(process.stdin, this.stdout.stream);
    this.handle = serveStdio(({ era }) => this.host.forConnection(era), {
      transport: gateListen(transport, this.host),
      legacy: this.host.options.legacy === 'reject' ? 'reject' : 'serve',
      onerror: error => this.host.reportRejected(error),
    });
    process.stdin.once('end', onEnd);
  }

  async close(): Promise<void> {
    await this.handle?.close();
    this.stdout.release();
  }
}
