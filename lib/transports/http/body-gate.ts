import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AbstractHttpAdapter } from '@nestjs/core';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { CorsGate } from './cors-gate.js';
import { EndpointPaths } from './endpoint-paths.js';
import { hooksOf } from './platform.js';
import { readBody, type Body } from './read-body.js';

/** Key of the body that a gate has read from a request. All gates share it, because a body can be read only once. */
const BODY = Symbol('nestjs-mcp:body');

interface ReadRequest extends IncomingMessage {
  [BODY]?: Body;
}

/** Key of the hidden headers of a request. */
const SHOWN = Symbol('nestjs-mcp:headers');

type HidingRequest = ReadRequest & { [SHOWN]?: (string | undefined)[] };

/** Headers that tell Fastify that a request has a body to parse. */
const OF_CONTENT = ['content-type', 'content-length', 'transfer-encoding'] as const;

/**
 * Reads the bodies of an endpoint's requests before the framework's parser. The framework's parser has another limit
 * (100 kB on Express), and answers invalid JSON with a body that is not JSON-RPC.
 */
export class BodyGate {
  private readonly paths = new EndpointPaths();

  /**
   * @param maxBytes the largest body, in bytes
   * @param timeoutMs deadline for a whole body, in milliseconds
   */
  constructor(
    private readonly maxBytes: number,
    private readonly timeoutMs: number,
  ) {}

  /** @param paths the paths of the endpoint; the gate ignores other routes */
  watch(paths: readonly string[]): void {
    this.paths.watch(paths);
  }

  /** The body that the gate read from a request, if the request passed the gate. */
  bodyOf(request: ReadRequest): Body | undefined {
    return request[BODY];
  }

  /** @param cors the gate before this one */
  install(adapter: AbstractHttpAdapter, cors?: CorsGate): void {
    const hooks = hooksOf(adapter);
    if (hooks) {
      cors?.hookInto(hooks);
      this.hookInto(hooks);
    } else {
      this.use(adapter, cors);
    }
  }

  private use(adapter: AbstractHttpAdapter, cors: CorsGate | undefined): void {
    // One function for both gates, because Express takes microseconds for each.
    adapter.use(
      (request: IncomingMessage & { body?: unknown }, response: ServerResponse, next: () => void) => {
        cors?.pass(request, response);
        if (!this.isWanted(request) || !this.paths.lead(request)) return next();
        void this.read(request).then(body => {
          // A parser would read the remaining bytes of an unread body, but ignores a body that was read. Another route
          // whose path matches the endpoint's parameters must not run without its body either.
          if (!body.ok && (body.error.close || this.paths.mayBeShared)) return body.error.send(response);
          if (body.ok) request.body = body.json;
          next();
        });
      },
    );
  }

  private hookInto(instance: FastifyInstance): void {
    // Fastify does not parse a request without content headers. They are hidden after the last application hook before
    // the parser, and restored before the next hook.
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
          // Fastify refuses a DELETE with a content type but without content.
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

  /** Reads a body that did not pass the gate. */
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

const JSON_TYPE = 'application/json';

const isJson = (type: string | undefined): boolean =>
  type === JSON_TYPE || type?.split(';', 1)[0].trim().toLowerCase() === JSON_TYPE;
