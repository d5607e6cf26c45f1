import type { ServerResponse } from 'node:http';
import type { RequestId } from '@modelcontextprotocol/server';
import { writeJson } from './post-answer.js';

interface TransportErrorOptions {
  /** Whether the connection ends with the answer, because part of the request was not read. Default: false. */
  readonly close?: boolean;
  readonly headers?: Readonly<Record<string, string>>;
  /** The request that it answers. Default: none is known. */
  readonly id?: RequestId;
}

/** A refusal below JSON-RPC: an HTTP status, with a JSON-RPC error in the body nevertheless. */
export class TransportError extends Error {
  /**
   * @param status HTTP status
   * @param code JSON-RPC error code
   * @param message what the client is told
   */
  constructor(
    readonly status: number,
    readonly code: number,
    message: string,
    private readonly options: TransportErrorOptions = {},
  ) {
    super(message);
  }

  /** Whether the connection ends with the answer. */
  get close(): boolean {
    return this.options.close === true;
  }

  send(response: ServerResponse): void {
    const { code, message, close, options } = this;
    writeJson(
      response,
      this.status,
      JSON.stringify({ jsonrpc: '2.0', error: { code, message }, id: options.id ?? null }),
      {
        ...options.headers,
        ...(close && { connection: 'close' }),
      },
    );
  }
}
