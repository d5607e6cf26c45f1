import { Writable } from 'node:stream';
import { serveStdio, StdioServerTransport, type StdioServerHandle } from '@modelcontextprotocol/server/stdio';
import type { McpServerHost } from '../../server/mcp-server-host.js';

/** Serves a server over the process's stdin and stdout, for both eras. */
export class StdioTransport {
  private handle?: StdioServerHandle;
  private releaseStdout?: () => void;

  constructor(private readonly host: McpServerHost) {}

  /** @param onEnd called when the client closed stdin */
  open(onEnd: () => void): void {
    const { stdout, release } = reserveStdout();
    this.releaseStdout = release;
    const transport = new StdioServerTransport(process.stdin, stdout);
    this.handle = serveStdio(({ era }) => this.host.forConnection(era), {
      transport,
      legacy: this.host.options.legacy === 'reject' ? 'reject' : 'serve',
      onerror: error => this.host.reportRejected(error),
    });
    process.stdin.once('end', onEnd);
  }

  async close(): Promise<void> {
    await this.handle?.close();
    this.releaseStdout?.();
  }
}

/**
 * Keeps stdout for the protocol: whatever else the process writes there (`console.log`, another logger) goes to
 * stderr, because a single stray line would break the client's parser.
 */
function reserveStdout(): { stdout: Writable; release: () => void } {
  const own = Object.getOwnPropertyDescriptor(process.stdout, 'write');
  const write = process.stdout.write.bind(process.stdout);
  process.stdout.write = process.stderr.write.bind(process.stderr);
  const stdout = new Writable({
    decodeStrings: false,
    write: (chunk: string, encoding, done) => void write(chunk, encoding, done),
  });
  return {
    stdout,
    release: () => {
      if (own) Object.defineProperty(process.stdout, 'write', own);
      else Reflect.deleteProperty(process.stdout, 'write');
    },
  };
}
