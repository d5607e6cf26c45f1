import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { AbstractHttpAdapter } from '@nestjs/core';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { EndpointPaths } from './endpoint-paths.js';
import { hooksOf } from './platform.js';

/** An answer whose head can still be changed. */
interface HeaderHolder {
  getHeader(name: string): number | string | string[] | undefined;
  setHeader(name: string, value: string): void;
}

/** What a browser's client reads of an answer. */
const EXPOSED = ['Mcp-Session-Id', 'Mcp-Protocol-Version', 'WWW-Authenticate'];

/** What it sends: `Mcp-Param-*` have names that only the tools know. */
const isSent = (name: string): boolean => /^(?:mcp-.+|content-type|last-event-id)$/i.test(name);

/**
 * Completes what the application's CORS says of an endpoint: a list of allowed or exposed headers that the application
 * wrote for its own routes would keep browsers from speaking the protocol. Without CORS it does nothing.
 */
export class CorsGate {
  private readonly paths = new EndpointPaths();

  /** @param paths the paths of the endpoint */
  watch(paths: readonly string[]): void {
    this.paths.watch(paths);
  }

  /** Has to come before the application enables CORS, whose preflight answers reach nobody else. */
  install(adapter: AbstractHttpAdapter): void {
    const hooks = hooksOf(adapter);
    if (hooks) {
      this.hookInto(hooks);
    } else {
      adapter.use((request: IncomingMessage, response: ServerResponse, next: () => void) => {
        if (isCrossOrigin(request) && this.paths.lead(request)) this.watchOver(request, response);
        next();
      });
    }
  }

  private hookInto(instance: FastifyInstance): void {
    // The endpoint answers on Node's own response; a preflight is answered before this hook, on Fastify's.
    instance.addHook('onRequest', (request, reply, done) => {
      if (isCrossOrigin(request.raw) && this.isOurs(request)) this.watchOver(request.raw, reply.raw);
      done();
    });
    instance.addHook('onSend', (request, reply, _payload, done) => {
      if (isCrossOrigin(request.raw) && this.isOurs(request)) {
        complete(request.raw, {
          getHeader: name => reply.getHeader(name),
          setHeader: (name, value) => void reply.header(name, value),
        });
      }
      done();
    });
  }

  /** A preflight has no version in a header, by which the router may choose the route: then its path says it. */
  private isOurs({ raw, routeOptions }: FastifyRequest): boolean {
    return this.paths.isRoute(routeOptions.url) || this.paths.lead(raw);
  }

  private watchOver(request: IncomingMessage, response: ServerResponse): void {
    const writeHead = response.writeHead.bind(response);
    response.writeHead = ((status: number, ...rest: (string | OutgoingHttpHeaders)[]) => {
      const headers = rest.at(-1);
      if (typeof headers === 'object' && !Array.isArray(headers)) {
        rest.pop();
        for (const [name, value] of Object.entries(headers)) {
          if (value !== undefined) response.setHeader(name, value);
        }
      }
      complete(request, response);
      return writeHead(status, ...(rest as []));
    }) as typeof response.writeHead;
  }
}

const isCrossOrigin = ({ headers }: IncomingMessage): boolean => headers.origin !== undefined;

function complete({ method, headers }: IncomingMessage, response: HeaderHolder): void {
  if (response.getHeader('access-control-allow-origin') === undefined) return;
  if (method === 'OPTIONS') {
    const asked = namesIn(headers['access-control-request-headers']);
    add(response, 'Access-Control-Allow-Headers', asked.filter(isSent));
  } else {
    add(response, 'Access-Control-Expose-Headers', EXPOSED);
  }
}

function add(response: HeaderHolder, header: string, names: readonly string[]): void {
  const given = namesIn(response.getHeader(header));
  const known = new Set(given.map(name => name.toLowerCase()));
  const missing = names.filter(name => !known.has(name.toLowerCase()));
  if (missing.length > 0) response.setHeader(header, [...given, ...missing].join(', '));
}

const namesIn = (value: number | string | string[] | undefined): string[] =>
  [value ?? []]
    .flat()
    .flatMap(names => String(names).split(','))
    .map(name => name.trim())
    .filter(name => name !== '');
