import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AbstractHttpAdapter } from '@nestjs/core';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { EndpointPaths } from './endpoint-paths.js';
import { hooksOf } from './platform.js';
import { readBody, type Body } from './read-body.js';

/** Where a request keeps what a gate has read of it, for all gates: a body can be read but once. */
const BODY = Symbol('nestjs-mcp:body');

interface ReadRequest extends IncomingMessage {
  [BODY]?: Body;
}

/** Where a request keeps the headers that it does not show. */
const SHOWN = Symbol('nestjs-mcp:headers');

type HidingRequest = ReadRequest & { [SHOWN]?: (string | undefined)[] };

/** Headers by which Fastify sees that a request has a body to parse. */
const OF_CONTENT = ['content-type', 'content-length', 'transfer-encoding'] as const;

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
  bodyOf(request: ReadRequest): Body | undefined {
    return request[BODY];
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
    // Fastify runs no parser on a request that shows no content. What hooks of the application see is left as it is: the
    // headers are hidden after the last of those that come before the parser, and are back before the next.
    const hide = ({ raw }: FastifyRequest) => {
      const { headers }: HidingRequest = raw;
      (raw as HidingRequest)[SHOWN] = OF_CONTENT.map(name => headers[name]);
      for (const name of OF_CONTENT) if (headers[name] !== undefined) headers[name] = undefined;
    };
    instance.addHook('onRoute', route => {
      if (!this.paths.isRoute(route.url)) return;
      route.preParsing = [
        ...[route.preParsing ?? []].flat(),
        (request, _reply, payload, done) => {
          const goOn = () => {
            hide(request);
            done(null, payload);
          };
          if (this.isWanted(request.raw)) return void this.read(request.raw).then(goOn);
          // Fastify refuses a DELETE that has a content type and no content.
          if (request.method === 'DELETE') return goOn();
          done(null, payload);
        },
      ];
    });
    instance.addHook('preValidation', (request, _reply, done) => {
      const { headers, [SHOWN]: values, [BODY]: body }: HidingRequest = request.raw;
      values?.forEach((value, index) => {
        if (value !== undefined) headers[OF_CONTENT[index]] = value;
      });
      if (values && body?.ok) request.body = body.json;
      done();
    });
  }

  /** Reads a body that did not pass through the gate. */
  async read(request: ReadRequest): Promise<Body> {
    const body = await readBody(request, this.maxBytes, this.timeoutMs);
    return (request[BODY] = body);
  }

  private isWanted(request: ReadRequest): boolean {
    return (
      request.method === 'POST' && request[BODY] === undefined && isJson(request.headers['content-type'])
    );
  }
}

const isJson = (type: string | undefined): boolean =>
  type !== undefined && type.split(';', 1)[0].trim().toLowerCase() === 'application/json';
