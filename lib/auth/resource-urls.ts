import type { IncomingMessage } from 'node:http';
import { originForm } from '../transports/http/endpoint-paths.js';

/** Where metadata of protected resources is (RFC 9728, 3). */
export const WELL_KNOWN = '/.well-known/oauth-protected-resource';

/** The place of the metadata of a resource: what is known goes between the host and the path. */
export function metadataUrlOf(resource: string): string {
  const { origin, pathname, search } = new URL(resource);
  return `${origin}${WELL_KNOWN}${pathname === '/' ? '' : pathname}${search}`;
}

interface PlatformRequest {
  /** As far as the platform trusts the proxies that passed the request on. */
  readonly protocol?: string;
  readonly originalUrl?: string;
  readonly url?: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly socket?: IncomingMessage['socket'] & { encrypted?: boolean };
  readonly raw?: IncomingMessage;
}

/** Where a request came in, as far as it says so; undefined for a request that names no host. */
export function urlOf(platformRequest: object): URL | undefined {
  const { protocol, originalUrl, url, headers, socket, raw } = platformRequest as PlatformRequest;
  const { encrypted } = (socket ?? raw?.socket ?? {}) as { encrypted?: boolean };
  const host = headers.host ?? headers[':authority'];
  const scheme = protocol ?? (encrypted ? 'https' : 'http');
  const text = `${scheme}://${String(host)}${originForm(originalUrl ?? url ?? '')}`;
  return typeof host === 'string' && URL.canParse(text) ? new URL(text) : undefined;
}
