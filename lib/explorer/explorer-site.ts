import type { IncomingMessage, ServerResponse } from 'node:http';
import { Logger } from '@nestjs/common';
import { originForm } from '../transports/http/endpoint-paths.js';
import type { PlatformRequest, PlatformResponse } from '../transports/http/platform.js';
import { readBody } from '../transports/http/read-body.js';
import { isRecord } from '../util/is-record.js';
import { ApiFailure } from './api-failure.js';
import { readPage, TYPES, type PageFile } from './page-files.js';
import { requestGate } from './request-gate.js';
import { VIEW_FRAME, viewPolicy } from './view-frame.js';

/** A request of the page: GET without a body, POST with one. */
export interface ApiRequest {
  readonly body: Readonly<Record<string, unknown>>;
  readonly http: IncomingMessage;
  /** The address of the page as the platform knows it: behind a trusted proxy, not that of the socket. */
  readonly address: string | undefined;
  /** Whether the page reads the answer line by line. */
  readonly isStreamed: boolean;
  /** Sends a line before the answer, if the answer is streamed. */
  readonly emit: (line: object) => void;
  /** Fires when the page is gone. */
  readonly signal: AbortSignal;
}

export interface Api {
  readonly get: Readonly<Record<string, () => object | Promise<object>>>;
  readonly post: Readonly<Record<string, (request: ApiRequest) => object | Promise<object>>>;
}

export const MAX_BODY_BYTES = 1024 * 1024;

const CSP = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  'media-src data:',
  "connect-src 'self'",
  "frame-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const HEADERS = {
  'cache-control': 'no-store',
  'content-security-policy': CSP,
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
} as const;

const LINES = 'application/x-ndjson';

const FAILED = 'The explorer failed; the log of the application says why';

/** The frame in which the page shows a view. */
const VIEW = 'view.html';

/** Serves the page and its API at one path. */
export class ExplorerSite {
  private readonly logger = new Logger('McpExplorer');
  private readonly admit: ReturnType<typeof requestGate>;
  private readonly base: string;
  private files: ReadonlyMap<string, PageFile> = new Map();

  constructor(
    path: string,
    isGuarded: boolean,
    private readonly api: Api,
  ) {
    this.base = `/${path.replace(/^\//, '')}`;
    this.admit = requestGate(isGuarded);
  }

  /** Reads the files of the page: no request chooses what is read. */
  async open(): Promise<void> {
    this.files = await readPage();
  }

  async serve(request: PlatformRequest, response: PlatformResponse): Promise<void> {
    const rawRequest = request.raw ?? request;
    const rawResponse = response.raw ?? response;
    // Interceptors of the application would change what a controller returns.
    response.hijack?.();
    const path = this.pathOf(rawRequest);
    try {
      this.admit(rawRequest, path?.startsWith('api/') === true);
      if (path === undefined) return this.redirect(rawResponse);
      if (path.startsWith('api/')) await this.answer(path.slice(4), request, rawRequest, rawResponse);
      else if (path === VIEW) sendFrame(rawRequest, rawResponse);
      else this.send(path === '' ? 'index.html' : path, rawRequest, rawResponse);
    } catch (error) {
      this.fail(error, rawResponse);
    }
  }

  /** The path relative to the page; undefined for the page without its slash. */
  private pathOf({ url = '' }: IncomingMessage): string | undefined {
    const [path] = originForm(url).split('?', 1);
    const start = path.indexOf(`${this.base}/`);
    return start < 0 ? undefined : path.slice(start + this.base.length + 1);
  }

  private redirect(response: ServerResponse): void {
    const location = `${this.base.slice(this.base.lastIndexOf('/') + 1)}/index.html`;
    response.writeHead(308, { ...HEADERS, location }).end();
  }

  private send(name: string, { method, headers }: IncomingMessage, response: ServerResponse): void {
    const file = this.files.get(name);
    if (!file) throw new ApiFailure(404, 'The explorer has no such file');
    if (method !== 'GET') throw new ApiFailure(405, 'Method Not Allowed');
    const { body, type, etag } = file;
    const cached = { 'cache-control': 'no-cache', etag };
    if (headers['if-none-match'] !== etag) write(response, 200, type, body, cached);
    else response.writeHead(304, { ...HEADERS, ...cached }).end();
  }

  private async answer(
    name: string,
    { body, ip }: PlatformRequest,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    const { get, post } = this.api;
    const isPost = request.method === 'POST';
    const known = isPost ? post : get;
    if (!Object.hasOwn(known, name)) {
      const isOther = Object.hasOwn(get, name) || Object.hasOwn(post, name);
      throw new ApiFailure(isOther ? 405 : 404, isOther ? 'Method Not Allowed' : 'The API has no such path');
    }
    if (!isPost) return writeJson(response, 200, await get[name]());
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    const json = await bodyOf(body, request);
    const address = ip ?? request.socket.remoteAddress;
    const isStreamed = request.headers.accept === LINES;
    const emit = (line: object) => void (isStreamed && writeLine(response, line));
    const asked = { body: json, http: request, address, signal: gone.signal, isStreamed, emit };
    const answered = await post[name](asked);
    if (!isStreamed) return writeJson(response, 200, answered);
    writeLine(response, answered);
    response.end();
  }

  private fail(error: unknown, response: ServerResponse): void {
    if (response.destroyed) return;
    const sentence = error instanceof ApiFailure ? error.message : FAILED;
    if (!(error instanceof ApiFailure)) this.logger.error('A request of the explorer failed', error);
    if (!response.headersSent) {
      return writeJson(response, error instanceof ApiFailure ? error.status : 500, { error: sentence });
    }
    writeLine(response, { type: 'failed', error: sentence });
    response.end();
  }
}

/** The query holds the `csp` of the view. */
function sendFrame({ url = '' }: IncomingMessage, response: ServerResponse): void {
  const { searchParams } = new URL(originForm(url), 'http://localhost');
  write(response, 200, TYPES['.html'], VIEW_FRAME, {
    'content-security-policy': viewPolicy(searchParams.get('csp')),
    'x-frame-options': 'SAMEORIGIN',
  });
}

/** As another parser of the application left it, or read now. */
async function bodyOf(parsed: unknown, request: IncomingMessage): Promise<Record<string, unknown>> {
  const body =
    parsed === undefined || parsed === null
      ? await readBody(request, MAX_BODY_BYTES)
      : ({ ok: true, json: parsed } as const);
  if (!body.ok) throw new ApiFailure(body.error.status, body.error.message);
  if (isRecord(body.json)) return body.json;
  throw new ApiFailure(400, 'The body is not a JSON object');
}

function write(response: ServerResponse, status: number, type: string, body: Buffer, headers = {}): void {
  response
    .writeHead(status, { ...HEADERS, 'content-type': type, 'content-length': body.length, ...headers })
    .end(body);
}

function writeJson(response: ServerResponse, status: number, value: object): void {
  write(response, status, 'application/json; charset=utf-8', Buffer.from(JSON.stringify(value)));
}

function writeLine(response: ServerResponse, line: object): void {
  if (!response.headersSent) response.writeHead(200, { ...HEADERS, 'content-type': LINES });
  response.write(`${JSON.stringify(line)}\n`);
}
