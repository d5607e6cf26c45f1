import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AbstractHttpAdapter } from '@nestjs/core';
import { EndpointPaths, originForm } from '../transports/http/endpoint-paths.js';
import { hooksOf } from '../transports/http/platform.js';
import type { TokenAuthorizer } from './token-authorizer.js';
import { metadataUrlOf, WELL_KNOWN } from './resource-urls.js';

const CORS = {
  'access-control-allow-origin': '*',
  'access-control-allow-methods': 'GET, HEAD, OPTIONS',
  'access-control-allow-headers': '*',
};

/** How long clients may keep metadata, in seconds. */
const MAX_AGE_S = 3600;

/**
 * Serves the metadata of protected resources (RFC 9728), which has fixed places: no prefix, version or guard of the application
 * applies.
 */
export class MetadataGate {
  private readonly places = new Map<TokenAuthorizer, EndpointPaths>();

  /**
   * @param authorizers of the servers whose metadata it serves
   * @param root the authorizer of the server whose metadata is at the place without a path
   */
  constructor(
    private readonly authorizers: () => Iterable<TokenAuthorizer>,
    private readonly root: () => unknown,
  ) {}

  /** Runs before the application enables CORS, which would answer preflights. */
  install(adapter: AbstractHttpAdapter): void {
    const hooks = hooksOf(adapter);
    if (!hooks) {
      adapter.use((request: IncomingMessage, response: ServerResponse, next: () => void) => {
        if (!this.serve(request, request, response)) next();
      });
      return;
    }
    hooks.addHook('onRequest', (request, reply, done) => {
      if (this.serve(request, request.raw, reply.raw)) reply.hijack();
      else done();
    });
    // The application's CORS may have answered the preflight by then.
    hooks.addHook('onSend', (request, reply, _payload, done) => {
      if (this.meant(request.raw)) reply.headers(CORS);
      done();
    });
  }

  /** @returns whether the request was for metadata, and is answered */
  private serve(platformRequest: object, request: IncomingMessage, response: ServerResponse): boolean {
    const authorizer = this.meant(request);
    if (!authorizer) return false;
    const path = pathOf(request).slice(WELL_KNOWN.length);
    answer(request, response, authorizer.metadata(platformRequest, path));
    return true;
  }

  /** The server whose metadata a request is for. */
  private meant(request: IncomingMessage): TokenAuthorizer | undefined {
    if (!request.url?.includes(WELL_KNOWN)) return undefined;
    const path = pathOf(request);
    if (!path.startsWith(WELL_KNOWN) || !['GET', 'HEAD', 'OPTIONS'].includes(request.method!))
      return undefined;
    for (const authorizer of this.authorizers()) {
      const isRoot = path === WELL_KNOWN && authorizer === this.root();
      if ((isRoot && authorizer.hasOneResource) || this.isPlaceOf(authorizer, request, path))
        return authorizer;
    }
    return undefined;
  }

  private isPlaceOf(authorizer: TokenAuthorizer, request: IncomingMessage, path: string): boolean {
    const { settings, server } = authorizer;
    const suffix = authorizer.suffixIn(path);
    if (suffix === undefined) return false;
    const whole = path.slice(0, path.length - suffix.length);
    if (settings.resource !== undefined && whole === pathIn(metadataUrlOf(settings.resource))) return true;
    let paths = this.places.get(authorizer);
    if (!paths) {
      paths = new EndpointPaths();
      paths.watch(server.paths.map(known => `${WELL_KNOWN}${known}`));
      this.places.set(authorizer, paths);
    }
    return paths.lead(suffix === '' ? request : ({ url: whole } as IncomingMessage));
  }
}

function answer(request: IncomingMessage, response: ServerResponse, metadata: object | undefined): void {
  if (request.method === 'OPTIONS') return void response.writeHead(204, CORS).end();
  if (!metadata) return void response.writeHead(400, CORS).end();
  const json = JSON.stringify(metadata);
  response.writeHead(200, {
    ...CORS,
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(json),
    'cache-control': `max-age=${MAX_AGE_S}`,
  });
  response.end(request.method === 'HEAD' ? undefined : json);
}

const pathOf = ({ url }: IncomingMessage): string => withoutSlash(originForm(url ?? '').split('?', 1)[0]);
const pathIn = (url: string): string => withoutSlash(new URL(url).pathname);
const withoutSlash = (path: string): string => path.replace(/(?<=.)\/$/, '');
