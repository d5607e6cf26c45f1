import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { EndpointPaths } from './endpoint-paths.js';

/** A response whose headers can still change. */
interface HeaderHolder {
  getHeader(name: string): number | string | string[] | undefined;
  setHeader(name: string, value: string): void;
}

/** Response headers that a client in a browser reads. */
const EXPOSED = ['Mcp-Session-Id', 'Mcp-Protocol-Version', 'WWW-Authenticate'];

/** Whether clients send a header. `Mcp-Param-*` headers cannot be listed, because each tool defines its own names. */
const isSent = (name: string): boolean => /^(?:mcp-.+|content-type|last-event-id)$/i.test(name);

/**
 * Completes the application's CORS headers for an endpoint. Otherwise, a list of allowed or exposed headers for the
 * application's own routes would keep browsers from using the protocol. Without CORS, it does nothing.
 */
export class CorsGate {
  private readonly paths = new EndpointPaths();

  /** @param paths the paths of the endpoint */
  watch(paths: readonly string[]): void {
    this.paths.watch(paths);
  }

  /** Watches a request of Connect-style middleware. It must run before the CORS of the application. */
  pass(request: IncomingMessage, response: ServerResponse): void {
    if (isCrossOrigin(request) && this.paths.lead(request)) this.watchOver(request, response);
  }

  /** Must be called before the application enables CORS, because CORS ends a preflight request at once. */
  hookInto(instance: FastifyInstance): void {
    // The endpoint answers on Node's own response. Fastify answers a preflight request on its reply, before this hook.
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

  /**
   * Whether a request is for the endpoint. A preflight has no version header, so the router may not find the route, and
   * the path decides.
   */
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
