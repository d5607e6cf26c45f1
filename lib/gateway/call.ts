import { AsyncLocalStorage } from 'node:async_hooks';
import {
  ProtocolError,
  type LoggingLevel,
  type Progress,
  type RequestOptions,
  type Result,
} from '@modelcontextprotocol/server';
import { McpErrorCode } from '../exceptions/mcp.exception.js';
import { callerOf } from '../protocol/caller.js';
import type { McpCall, Params } from '../protocol/mcp-call.js';
import { sendLog } from '../protocol/mcp-log.js';

/** The SDK's client does not say on which stream a message came; only the async context links it to its request. */
export const callScope = new AsyncLocalStorage<Call | undefined>();

export type AskOptions = Pick<RequestOptions, 'signal' | 'timeout' | 'onprogress' | 'resetTimeoutOnProgress'>;

/** A client's request at a backend. It forwards the messages that the backend sends before its answer. */
export class Call {
  /** Calls with the same owner are of one client. Each call of an anonymous caller has a different owner. */
  readonly owner: unknown;
  /** The caller's token for the backend, if the gateway gets one for each caller. */
  token?: string;

  constructor(protected exchange: McpCall) {
    this.owner = ownerOf(exchange);
  }

  get isAnonymous(): boolean {
    return typeof this.owner === 'symbol';
  }

  get authInfo(): McpCall['authInfo'] {
    return this.exchange.authInfo;
  }

  get progressToken(): unknown {
    return this.exchange.meta?.['progressToken'];
  }

  progress(progress: Progress): void {
    const { progressToken, exchange } = this;
    exchange.reply.extend?.();
    if (progressToken === undefined || exchange.reply.signal.aborted) return;
    exchange.reply.notify('notifications/progress', { ...progress, progressToken }).catch(() => undefined);
  }

  /** A 2026-era client gets the levels that its request asks for. */
  log(params: Params): void {
    const { exchange } = this;
    const { level, data, logger } = params as { level: LoggingLevel; data: unknown; logger?: string };
    const sent =
      exchange.era === 'modern'
        ? sendLog(exchange, level, data, logger)
        : exchange.reply.notify('notifications/message', params);
    sent.catch(() => undefined);
  }

  async ask(method: string, params: Params | undefined, options: AskOptions): Promise<Result> {
    const { exchange } = this;
    if (exchange.reply.ask) return exchange.reply.ask(method, params, options);
    throw new ProtocolError(
      McpErrorCode.InvalidRequest,
      `The client cannot be asked for ${method}: its connection carries no requests to it`,
    );
  }
}

function ownerOf({ channel, http, authInfo }: McpCall): unknown {
  if (channel) return channel;
  const caller = callerOf(authInfo, http?.request);
  // Over stdio, there is a single client.
  return http && caller === ANONYMOUS ? Symbol('anonymous') : caller;
}

const ANONYMOUS = callerOf(undefined, undefined);
