import { RecordedResponse, refuse, type Answer } from './recorded-response.js';

/** What a response of Express or Fastify sends in other ways than as a value. */
const STREAMING = [
  'sendFile',
  'sendfile',
  'download',
  'render',
  'view',
  'hijack',
  'format',
  'writeStream',
  'pipe',
];

interface Located {
  readonly locals?: object;
}

/**
 * The response that middleware, guards, Nest interceptors and filters of a route get in a call of a tool: that of Express
 * and the reply of Fastify in one. It only records.
 */
export class RouteResponse extends RecordedResponse {
  readonly locals: Record<string, unknown>;
  private node?: RecordedResponse;

  /** @param real the response of the endpoint; undefined over stdio */
  constructor(
    readonly request: object,
    real: object | undefined,
  ) {
    super(request);
    this.locals = { ...(real as Located | undefined)?.locals };
  }

  /** Node's response, as Fastify has it. */
  get raw(): RecordedResponse {
    return (this.node ??= this.nodeResponse());
  }

  get sent(): boolean {
    return this.headersSent;
  }

  status(code: number): this {
    this.statusCode = code;
    return this;
  }

  code(code: number): this {
    return this.status(code);
  }

  sendStatus(code: number): this {
    this.statusCode = code;
    return this.send(String(code));
  }

  send(body?: unknown): this {
    return this.end(body);
  }

  json(body?: unknown): this {
    this.record(body);
    return this;
  }

  jsonp(body?: unknown): this {
    return this.json(body);
  }

  redirect(first: string | number, second?: string | number): this {
    const [status, url] = typeof first === 'number' ? [first, second] : [Number(second ?? 302), first];
    this.statusCode = status;
    this.record(`Redirects to ${String(url)}`);
    return this;
  }

  set(name: string | Record<string, string>, value?: string | string[]): this {
    if (typeof name === 'string') return this.setHeader(name, value);
    for (const [key, one] of Object.entries(name)) this.setHeader(key, one);
    return this;
  }

  header(name: string, value?: string | string[]): this {
    return this.set(name, value);
  }

  headers(values: Record<string, string>): this {
    return this.set(values);
  }

  get(name: string): unknown {
    return this.getHeader(name);
  }

  append(name: string, value: string | readonly string[]): this {
    return this.appendHeader(name, value);
  }

  type(value: string): this {
    return this.setHeader('content-type', value);
  }

  contentType(value: string): this {
    return this.type(value);
  }

  vary(name: string): this {
    return this.appendHeader('vary', name);
  }

  location(url: string): this {
    return this.setHeader('location', url);
  }

  // Headers have no effect, so neither do cookies, links and serializers.
  links(): this {
    return this;
  }

  attachment(): this {
    return this;
  }

  cookie(): this {
    return this;
  }

  clearCookie(): this {
    return this;
  }

  setCookie(): this {
    return this;
  }

  serializer(): this {
    return this;
  }

  /** Calls back at the first answer, also if it is there. */
  onAnswer(listener: (answer: Answer) => void): void {
    if (this.answer) listener(this.answer);
    else this.once('answer', () => listener(this.answer!));
  }

  override close(): void {
    super.close();
    this.node?.close();
  }

  private nodeResponse(): RecordedResponse {
    const node = new RecordedResponse((this.request as { raw?: object }).raw ?? this.request);
    node.on('answer', () => {
      const { status, body } = node.answer!;
      this.statusCode = status;
      this.record(body);
    });
    return node;
  }
}

for (const name of STREAMING) refuse(RouteResponse.prototype, name);
