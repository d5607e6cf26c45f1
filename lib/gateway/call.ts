import type { LoggingLevel, Progress, RequestOptions, Result } from '@modelcontextprotocol/server';
import { ProtocolError } from '@modelcontextprotocol/server';
import { McpErrorCode } from '../exceptions/mcp.exception.js';
import { callerOf } from '../server/caller.js';
import type { Params } from '../protocol/mcp-call.js';
import { sendLog } from '../protocol/mcp-log.js';
import type { McpCall } from '../protocol/mcp-call.js';

export type AskOptions = Pick<RequestOptions, 'signal' | 'timeout' | 'onprogress' | 'resetTimeoutOnProgress'>;

/** Whether a method runs something of the backend's, which may ask the client for input. */
export const isCall = (method: string): boolean =>
  method === 'tools/call' || method === 'prompts/get' || method === 'resources/read';

/** A client's request while a backend works on it: where what the backend sends meanwhile goes. */
export class Call {
  /** Whose it is: calls with the same owner are of one client. Of callers who are not known, each call may be another's. */
  readonly owner: unknown;

  constructor(protected exchange: McpCall) {
    this.owner = ownerOf(exchange);
  }

  get isAnonymous(): boolean {
    return typeof this.owner === 'symbol';
  }

  /** The token under which the client wants to be told of progress. */
  get progressToken(): unknown {
    return this.exchange.meta?.['progressToken'];
  }

  progress(progress: Progress): void {
    const { progressToken, exchange } = this;
    if (progressToken === undefined || exchange.reply.signal.aborted) return;
    exchange.reply.notify('notifications/progress', { ...progress, progressToken }).catch(() => undefined);
  }

  /** A log message; one for a 2026-era client has to pass the level that its request asks for. */
  log(params: Params): void {
    const { exchange } = this;
    const { level, data, logger } = params as { level: LoggingLevel; data: unknown; logger?: string };
    const sent =
      exchange.era === 'modern'
        ? sendLog(exchange, level, data, logger)
        : exchange.reply.notify('notifications/message', params);
    sent.catch(() => undefined);
  }

  /**
   * Asks the client, on the stream of its own request.
   * @throws ProtocolError where the connection carries no requests to the client
   */
  async ask(method: string, params: Params | undefined, options: AskOptions): Promise<Result> {
    const { ask } = this.exchange.reply;
    if (ask) return ask(method, params, options);
    throw new ProtocolError(
      McpErrorCode.InvalidRequest,
      `The client cannot be asked for ${method}: its connection carries no requests to it`,
    );
  }
}

function ownerOf({ channel, http, authInfo }: McpCall): unknown {
  if (channel) return channel;
  const caller = callerOf(authInfo, http?.request);
  // A process talks to a single client over stdio.
  return http && caller === NOBODY ? Symbol('anonymous') : caller;
}

const NOBODY = callerOf(undefined, undefined);
