import { EventEmitter } from 'node:events';

/** What middleware, a Nest interceptor or a filter answered. */
export interface Answer {
  readonly status: number;
  readonly body: unknown;
}

type HeaderValue = string | number | readonly string[] | undefined;

/** Members with which a response sends in other ways than as a whole. */
const STREAMING = [
  'write',
  'flushHeaders',
  'assignSocket',
  'writeContinue',
  'writeProcessing',
  'writeEarlyHints',
] as const;

/**
 * Node's response for a call of a route. It only records, because the transport of the call answers. Headers have no
 * effect. What would stream throws, since the answer would be lost.
 */
export class RecordedResponse extends EventEmitter {
  statusCode = 200;
  statusMessage = '';
  headersSent = false;
  writableEnded = false;
  writableFinished = false;
  finished = false;
  /** A call has no connection of its own, as a response that is complete. */
  readonly socket = null;
  readonly connection = null;
  answer?: Answer;
  private readonly fields = new Map<string, HeaderValue>();
  private hasClosed = false;

  constructor(readonly req: object) {
    super();
    this.setMaxListeners(0);
  }

  setHeader(name: string, value: HeaderValue): this {
    this.fields.set(name.toLowerCase(), value);
    return this;
  }

  getHeader(name: string): HeaderValue {
    return this.fields.get(name.toLowerCase());
  }

  hasHeader(name: string): boolean {
    return this.fields.has(name.toLowerCase());
  }

  removeHeader(name: string): void {
    this.fields.delete(name.toLowerCase());
  }

  getHeaders(): Record<string, HeaderValue> {
    return Object.fromEntries(this.fields);
  }

  getHeaderNames(): string[] {
    return [...this.fields.keys()];
  }

  appendHeader(name: string, value: string | readonly string[]): this {
    const known = this.getHeader(name);
    return this.setHeader(name, known === undefined ? value : [known, value].flat().map(String));
  }

  writeHead(status: number, ...rest: unknown[]): this {
    this.statusCode = status;
    const headers = rest.at(-1);
    if (typeof headers === 'object' && headers !== null && !Array.isArray(headers)) {
      for (const [name, value] of Object.entries(headers)) this.setHeader(name, value as HeaderValue);
    }
    return this;
  }

  end(body?: unknown): this {
    if (typeof body !== 'function') this.record(this.parsed(body));
    return this;
  }

  /** Records an answer. The first one counts, as on the wire. */
  record(body: unknown): void {
    if (this.answer) return;
    this.answer = { status: this.statusCode, body };
    this.headersSent = true;
    this.writableEnded = true;
    this.finished = true;
    this.emit('answer');
  }

  /** Ends the response for those that wait for its end. */
  close(): void {
    if (this.hasClosed) return;
    this.hasClosed = true;
    this.headersSent = true;
    this.writableEnded = true;
    this.writableFinished = true;
    this.finished = true;
    this.emit('finish');
    this.emit('close');
  }

  /** The value of a JSON text, so that its message can be read. */
  private parsed(body: unknown): unknown {
    const text = body instanceof Uint8Array ? Buffer.from(body).toString('utf8') : body;
    if (typeof text !== 'string' || !/json/i.test(String(this.getHeader('content-type')))) return text;
    try {
      return JSON.parse(text) as unknown;
    } catch {
      return text;
    }
  }
}

for (const name of STREAMING) refuse(RecordedResponse.prototype, name);

/** Makes a method throw, with the remedy. */
export function refuse(prototype: object, name: string): void {
  Object.defineProperty(prototype, name, {
    configurable: true,
    // Middleware may replace it, to see what is written.
    writable: true,
    value: () => {
      throw streams(name);
    },
  });
}

const streams = (name: string): Error =>
  new Error(
    `response.${name} is not there in a call of a tool, which has no connection: pass { middleware: false } to @Tool() if its middleware used it`,
  );
