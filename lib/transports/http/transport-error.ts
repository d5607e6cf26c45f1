import type { ServerResponse } from 'node:http';

/** A refusal below JSON-RPC: an HTTP status, with a JSON-RPC error in the body nevertheless. */
export class TransportError extends Error {
  /**
   * @param status HTTP status
   * @param code JSON-RPC error code
   * @param message what the client is told
   * @param close whether the connection ends with the answer, because part of the request was not read
   */
  constructor(
    readonly status: number,
    readonly code: number,
    message: string,
    readonly close = false,
  ) {
    super(message);
  }

  toResponse(headers: Record<string, string> = {}): Response {
    return Response.json(this.body, { status: this.status, headers: { ...headers, ...this.connection } });
  }

  send(response: ServerResponse, headers: Record<string, string> = {}): void {
    response.writeHead(this.status, { 'content-type': 'application/json', ...headers, ...this.connection });
    response.end(JSON.stringify(this.body));
  }

  private get body(): object {
    return { jsonrpc: '2.0', error: { code: this.code, message: this.message }, id: null };
  }

  private get connection(): Record<string, string> {
    return this.close ? { connection: 'close' } : {};
  }
}
