import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AbstractHttpAdapter } from '@nestjs/core';
import type { FastifyInstance } from 'fastify';
import { readBody, type Body } from './read-body.js';

/** What the gates have read, for all of them: a body can be read but once, and paths may end alike. */
const BODIES = new WeakMap<IncomingMessage, Body>();

/** The gates of each HTTP server. */
const GATES = new WeakMap<AbstractHttpAdapter, BodyGate[]>();

/**
 * Reads the bodies of an endpoint's requests before the framework's own parser can, because that one has a limit of
 * its own (100 kB on Express) and answers bad JSON with a body that is not JSON-RPC.
 */
export class BodyGate {
  private readonly paths: RegExp;
  private readonly depth: number;
  private gates: readonly BodyGate[] = [];

  /**
   * @param path the route's path; what a global prefix, a version or `RouterModule` put before it may be anything
   * @param maxBytes the largest body
   */
  constructor(
    path: string,
    readonly maxBytes: number,
  ) {
    const segments = path.split('/').filter(segment => segment !== '');
    const pattern = segments.map(segment => (segment.startsWith(':') ? '[^/]+' : escapeRegExp(segment)));
    this.paths = new RegExp(`/${pattern.join('/')}/?$`, 'i');
    this.depth = segments.length;
  }

  /** What the gate read of a request, if the request passed through it. */
  bodyOf(request: IncomingMessage): Body | undefined {
    return BODIES.get(request);
  }

  install(adapter: AbstractHttpAdapter): void {
    const gates = GATES.get(adapter) ?? [];
    gates.push(this);
    GATES.set(adapter, gates);
    this.gates = gates;
    if (adapter.getType() === 'fastify') this.onFastify(adapter.getInstance<FastifyInstance>());
    else this.onExpress(adapter);
  }

  private onExpress(adapter: AbstractHttpAdapter): void {
    adapter.use(
      (request: IncomingMessage & { body?: unknown }, response: ServerResponse, next: () => void) => {
        if (!this.isOurs(request)) return next();
        void this.read(request).then(body => {
          // A parser would go on reading what was left unread; it leaves alone what has come to its end.
          if (!body.ok && body.error.close) return body.error.send(response);
          if (body.ok) request.body = body.json;
          next();
        });
      },
    );
  }

  private onFastify(instance: FastifyInstance): void {
    const hidden = new WeakMap<IncomingMessage, IncomingMessage['headers']>();
    instance.addHook('onRequest', async ({ raw }) => {
      if (!this.isOurs(raw)) return;
      await this.read(raw);
      // Fastify runs no parser on a request that shows no content; the headers come back before anyone else looks.
      hidden.set(raw, raw.headers);
      const {
        'content-type': _type,
        'content-length': _length,
        'transfer-encoding': _encoding,
        ...rest
      } = raw.headers;
      raw.headers = rest;
    });
    instance.addHook('preValidation', async request => {
      const headers = hidden.get(request.raw);
      if (headers === undefined) return;
      request.raw.headers = headers;
      const body = BODIES.get(request.raw);
      if (body?.ok) request.body = body.json;
    });
  }

  private async read(request: IncomingMessage): Promise<Body> {
    const body = await readBody(request, this.maxBytes);
    BODIES.set(request, body);
    return body;
  }

  private isOurs(request: IncomingMessage): boolean {
    if (request.method !== 'POST' || BODIES.has(request)) return false;
    const url = (request as { originalUrl?: string }).originalUrl ?? request.url ?? '';
    const query = url.indexOf('?');
    const path = query < 0 ? url : url.slice(0, query);
    if (!isJson(request.headers['content-type']) || !this.paths.test(path)) return false;
    // Where several paths fit, as `/mcp` and `/admin/mcp` do, the longest is meant, and its limit counts.
    return !this.gates.some(({ depth, paths }) => depth > this.depth && paths.test(path));
  }
}

const isJson = (type: string | undefined): boolean =>
  type !== undefined && type.split(';', 1)[0].trim().toLowerCase() === 'application/json';

const escapeRegExp = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
