import { setTimeout as pause } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import type { JSONRPCMessage } from '@modelcontextprotocol/server';
import { serveStdio, type StdioServerHandle } from '@modelcontextprotocol/server/stdio';
import { McpErrorCode } from '../../exceptions/mcp.exception.js';
import { serverForConnection } from '../../server/connection-server.js';
import type { McpServerInstance } from '../../server/mcp-server-instance.js';
import type { Era } from '../../protocol/mcp-call.js';
import { OpenReplies, type RunningCalls, SHUTDOWN_GRACE_MS } from '../../protocol/running-calls.js';
import { BoundedStdio, MAX_UNREAD_TOTAL } from './bounded-stdio.js';
import { reserveStdout } from './reserve-stdout.js';
import { MAX_LINE_BYTES, StdinLines } from './stdin-lines.js';
import { gateStdio } from './stdio-gate.js';

/** Serves a server over the process's stdin and stdout, in both eras. */
export class StdioTransport {
  private readonly logger: Logger;
  private handle?: StdioServerHandle;
  private readonly stdout = reserveStdout();
  private readonly running: RunningCalls;
  private readonly replies = new OpenReplies();
  private closing?: Promise<void>;

  constructor(private readonly host: McpServerInstance) {
    this.logger = new Logger(`McpModule(${host.options.name})`);
    this.running = host.newRunningCalls();
    host.gauges['calls'] = () => host.running.limit.size + this.running.limit.size;
    host.gauges['hanging'] = () => host.running.hanging.size + this.running.hanging.size;
  }

  /**
   * @param onEnd called after the client has closed stdin, disconnected or stopped reading, and the running calls have
   * ended. It receives the exit code for a process without other work
   */
  open(onEnd: (exitCode: number) => void): void {
    const { stdin } = process;
    const { stream } = this.stdout;
    const end = (exitCode: number) => void this.close().then(() => onEnd(exitCode));
    const input = new StdinLines(stream, {
      onTooLong: () => this.refuseLine(transport),
      onEnd: () => end(0),
    });
    stdin.once('error', error => input.destroy(error)).pipe(input);
    stream.once('error', () => end(0));
    const transport = new BoundedStdio(input, stream, () => {
      this.logger.error(
        `The client left more than ${MAX_UNREAD_TOTAL} characters on stdout unread; the connection ends`,
      );
      void transport.close();
      end(1);
    });
    let current: Era | undefined;
    const serverFor = ({ era }: { era: Era }) =>
      serverForConnection(this.host, (current = era), this.running);
    this.handle = serveStdio(serverFor, {
      transport: gateStdio(transport, this.host, this.replies, () => current === 'legacy'),
      legacy: this.host.options.legacy === 'reject' ? 'reject' : 'serve',
      // The gate answers `subscriptions/listen`.
      maxSubscriptions: 0,
      onerror: error => this.host.reportRejected(error),
    });
  }

  /** Waits for running calls up to the server's `shutdownTimeoutMs`, then ends the connection. */
  close(): Promise<void> {
    return (this.closing ??= this.shutDown());
  }

  private refuseLine(transport: BoundedStdio): void {
    const message = `Invalid Request: a line must not exceed ${MAX_LINE_BYTES} bytes`;
    this.logger.error(`The client sent a line of more than ${MAX_LINE_BYTES} bytes on stdin; it was skipped`);
    const error = { code: McpErrorCode.InvalidRequest, message };
    // The id of the message is unknown.
    const answer = { jsonrpc: '2.0', id: null, error } as unknown as JSONRPCMessage;
    transport.send(answer).catch(() => undefined);
  }

  private async shutDown(): Promise<void> {
    this.host.reportEnded(await this.running.shutDown(this.host.options.shutdownTimeoutMs));
    await this.replies.close();
    const over = new AbortController();
    const late = pause(SHUTDOWN_GRACE_MS, undefined, { signal: over.signal }).catch(() => undefined);
    const closed = Promise.all([
      this.running.idle(SHUTDOWN_GRACE_MS),
      this.handle?.close(),
      this.stdout.flushed(),
    ]);
    // A client that does not read its answers must not keep the connection or the process open.
    await Promise.race([late, closed]);
    over.abort();
    process.stdin.unpipe().pause();
    this.stdout.release();
  }
}
