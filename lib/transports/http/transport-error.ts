import type { ServerResponse } from 'node:http';
import type { RequestId } from '@modelcontextprotocol/server';
import type { AuthChallenge } from '../../exceptions/auth-challenge.js';
import type { LimitReached } from '../../protocol/caller-limit.js';
import { writeJson } from './post-answer.js';

interface TransportErrorOptions {
  /** Whether the connection ends with the answer, because part of the request was not read. Default: false. */
  readonly close?: boolean;
  readonly headers?: Readonly<Record<string, string>>;
  /** The id of the answered request. Default: unknown. */
  readonly id?: RequestId;
  readonly data?: unknown;
}

/** A refusal at the HTTP level: an HTTP status, with a JSON-RPC error in the body. */
export class TransportError extends Error {
  /**
   * @param status HTTP status
   * @param code JSON-RPC error code
   * @param message the text for the client
   */
  constructor(
    readonly status: number,
    readonly code: number,
    message: string,
    private readonly options: TransportErrorOptions = {},
  ) {
    super(message);
  }

  get close(): boolean {
    return this.options.close === true;
  }

  send(response: ServerResponse): void {
    const { code, message, close, options } = this;
    const { id = null, data } = options;
    writeJson(response, this.status, JSON.stringify({ jsonrpc: '2.0', error: { code, message, data }, id }), {
      ...options.headers,
      ...(close && { connection: 'close' }),
    });
  }
}

export const SHUTTING_DOWN = new TransportError(503, -32000, 'The server is shutting down', {
  close: true,
  headers: { 'retry-after': '1' },
});

export const NO_VIEW = new TransportError(404, -32600, 'Not Found: the server has no such part');

/** The limit counts it. */
export class LimitError extends TransportError {}

/** The refusal of a request that is past a cap, in both eras. */
export const limitError = (
  { status, code, message, data, headers }: LimitReached,
  id?: RequestId,
): LimitError => new LimitError(status, code, message, { id, data, headers });

/** The refusal of a request because of its token. */
export const challengeError = (
  { status, code, message, headers }: AuthChallenge,
  id?: RequestId,
): TransportError => new TransportError(status, code, message, { id, headers });
