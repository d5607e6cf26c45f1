import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AbstractHttpAdapter } from '@nestjs/core';
import type { FastifyInstance } from 'fastify';
import { EndpointPaths } from './endpoint-paths.js';
import { hooksOf } from './platform.js';
import { readBody, type Body } from './read-body.js';

/** What the gates have read, for all of them: a body can be read but once. */
const BODIES = new WeakMap<IncomingMessage, Body>();

/**
 * Reads the bodies of an endpoint's requests before the framework's own parser can, because that one has a limit of
 * its own (100 kB on Express) and answers bad JSON with a body that is not JSON-RPC.
 */
export class BodyGate {
  private readonly paths = new EndpointPaths();

  /**
   * @param maxBytes the largest body
   * @param timeoutMs how long a body may take to arrive, in milliseconds
   */
  constructor(
    private readonly maxBytes: number,
    private readonly timeoutMs: number,
  ) {}

  /** @param paths the paths of the endpoint; those of other routes are none of its business */
  watch(paths: readonly string[]): void {
    this.paths.watch(paths);
  }

  /** What the gate read of a request, if the request passed through it. */
  bodyOf(request: IncomingMessage): Body | undefined {
    return BODIES.get(request);
  }

  install(adapter: AbstractHttpAdapter): void {
    const hooks = hooksOf(adapter);
    if (hooks) this.hookInto(hooks);
    else this.use(adapter);
  }

  private use(adapter: AbstractHttpAdapter): void {
    adapter.use(
      (request: IncomingMessage & { body?: unknown }, response: ServerResponse, next: () => void) => {
        if (!this.isWanted(request) || !this.paths.lead(request)) return next();
        void this.read(request).then(body => {
          // A parser would go on reading what was left unread; it leaves alone what has come to its end.
          // Nor may another route, whose path a parameter of the endpoint's fits, be called without its body.
          if (!body.ok && (body.error.close || this.paths.mayBeShared)) return body.error.send(response);
          if (body.ok) request.body = body.json;
          next();
        });
      },
    );
  }

  private hookInto(instance: FastifyInstance): void {
    const hidden = new WeakMap<IncomingMessage, IncomingMessage['headers']>();
    instance.addHook('onRequest', async ({ raw, routeOptions }) => {
      // The router has found the route by now, whatever its options make of a path.
      if (!this.isWanted(raw) || !this.paths.isRoute(routeOptions.url)) return;
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

  /** Reads a body that did not pass through the gate. */
  async read(request: IncomingMessage): Promise<Body> {
    const body = await readBody(request, this.maxBytes, this.timeoutMs);
    BODIES.set(request, body);
    return body;
  }

  private isWanted(request: IncomingMessage): boolean {
    return request.method === 'POST' && !BODIES.has(request) && isJson(request.headers['content-type']);
  }
}

const isJson = (type: string | undefined): boolean =>
  type !== undefined && type.split(';', 1)[0].trim().toLowerCase() === 'application/json';
