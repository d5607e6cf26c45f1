import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

interface Message {
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>> & { readonly _meta: Record<string, unknown> };
}

export interface Passed extends Message {
  readonly headers: IncomingHttpHeaders;
  readonly at: number;
}

/** Answers a message itself, or changes the answer of the server. */
export interface Rule {
  answer?(message: Message, response: ServerResponse): boolean;
  change?(message: Message, text: string): string;
}

/** A proxy between a client and a server, which records the messages. */
export class TaskFront {
  readonly passed: Passed[] = [];
  rule: Rule = {};
  private readonly http: Server;

  constructor(public target: string) {
    this.http = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        this.pass(request.headers, Buffer.concat(chunks).toString(), response).catch(() =>
          response.destroy(),
        );
      });
    });
  }

  async listen(): Promise<string> {
    this.http.listen(0, '127.0.0.1');
    await once(this.http, 'listening');
    return `http://127.0.0.1:${(this.http.address() as AddressInfo).port}/mcp`;
  }

  count(method: string): number {
    return this.passed.filter(one => one.method === method).length;
  }

  async close(): Promise<void> {
    this.http.close();
    this.http.closeAllConnections();
    await once(this.http, 'close');
  }

  private async pass(headers: IncomingHttpHeaders, body: string, response: ServerResponse): Promise<void> {
    const message = JSON.parse(body) as Message;
    this.passed.push({ ...message, headers, at: performance.now() });
    if (this.rule.answer?.(message, response)) return;
    const { connection: _, 'transfer-encoding': __, 'content-length': ___, host: ____, ...sent } = headers;
    const answer = await fetch(this.target, {
      method: 'POST',
      headers: sent as Record<string, string>,
      body,
    });
    const text = await answer.text();
    const kept = ['content-type', 'mcp-session-id', 'retry-after'].flatMap(name => {
      const value = answer.headers.get(name);
      return value === null ? [] : [[name, value] as const];
    });
    response.writeHead(answer.status, Object.fromEntries(kept));
    response.end(this.rule.change?.(message, text) ?? text);
  }
}
