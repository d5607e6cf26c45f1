import type { IncomingMessage } from 'node:http';
import { originForm } from '../transports/http/endpoint-paths.js';
import { isHost } from '../transports/http/request-check.js';

/** Beginning of the paths of metadata (RFC 9728, 3). */
export const WELL_KNOWN = '/.well-known/oauth-protected-resource';

/** The place of the metadata of a resource: the well-known path stands between the host and the resource's path. */
export function metadataUrlOf(resource: string): string {
  const { origin, pathname, search } = new URL(resource);
  return `${origin}${WELL_KNOWN}${pathname === '/' ? '' : pathname}${search}`;
}

interface PlatformRequest {
  /** Forwarded headers count only if the platform trusts the proxy. */
  readonly protocol?: string;
  readonly originalUrl?: string;
  readonly url?: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly socket?: IncomingMessage['socket'] & { encrypted?: boolean };
  readonly raw?: IncomingMessage;
}

/**
 * The URL of a path at the origin of a request, as audience of tokens and in the metadata, without a last slash. The path is
 * as given: a parser of URLs would turn `/a/../b` into `/b`, but routers and handlers do not.
 */
export function resourceAt(platformRequest: object, path: string): string {
  return `${targetOf(platformRequest).origin}${path.replace(/\/$/, '')}`;
}

/** The origin and the path of a request whose host has been checked. A port of `otherPortOf` is not part of the origin. */
export function targetOf(platformRequest: object): { readonly origin: string; readonly path: string } {
  const { originalUrl, url: target = '' } = platformRequest as PlatformRequest;
  const path = originForm(originalUrl ?? target).split(/[?#]/, 1)[0];
  return { origin: originOf(platformRequest, path), path };
}

/** The last origin, because most requests repeat it. */
let last: { readonly text: string; readonly port?: number; readonly origin: string } | undefined;

function originOf(platformRequest: object, path: string): string {
  const text = textOf(platformRequest, path);
  const port = localPortOf(platformRequest);
  if (last?.text === text && last.port === port) return last.origin;
  const url = urlOf(platformRequest)!;
  if (otherPortOf(platformRequest, url) !== undefined) url.port = String(port ?? '');
  last = { text, port, origin: url.origin };
  return last.origin;
}

/** The port that a request names if the server does not listen on it: a mapped port, or one that the caller chose. */
export function otherPortOf(platformRequest: object, { port }: URL): string | undefined {
  return port === '' || port === String(localPortOf(platformRequest)) ? undefined : port;
}

/** The URL of a request as the client wrote it; undefined without a valid host. */
export function urlOf(platformRequest: object): URL | undefined {
  const { originalUrl, url, headers } = platformRequest as PlatformRequest;
  const text = textOf(platformRequest, originForm(originalUrl ?? url ?? ''));
  return isHost(headers.host ?? headers[':authority']) && URL.canParse(text) ? new URL(text) : undefined;
}

function textOf(platformRequest: object, path: string): string {
  const { protocol, headers, socket, raw } = platformRequest as PlatformRequest;
  const { encrypted } = (socket ?? raw?.socket ?? {}) as { encrypted?: boolean };
  const host = headers.host ?? headers[':authority'];
  // A proxy may hand on any text that a client wrote.
  const scheme = /^https?$/i.test(protocol ?? '') ? protocol! : encrypted ? 'https' : 'http';
  return `${scheme}://${String(host)}${path}`;
}

function localPortOf(platformRequest: object): number | undefined {
  const { socket, raw } = platformRequest as PlatformRequest;
  return (socket ?? raw?.socket)?.localPort;
}
