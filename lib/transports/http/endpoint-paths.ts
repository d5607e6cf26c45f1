import type { IncomingMessage } from 'node:http';

/** The paths of an endpoint, for gates that see requests before the endpoint. */
export class EndpointPaths {
  private patterns: readonly RegExp[] = [];
  private routes: readonly RegExp[] = [];
  /** Whether other routes of the application may have paths that match the endpoint's patterns. */
  mayBeShared = false;

  /** @param paths the patterns of the endpoint's paths, in Nest's syntax */
  watch(paths: readonly string[]): void {
    this.patterns = paths.map(path => patternOf(path, '[^/]+', '.+'));
    this.routes = paths.map(path => patternOf(path, ':[^/]+', '.*\\*'));
    this.mayBeShared = paths.some(path => /[:*]/.test(path));
  }

  /** Whether a route that the router found belongs to the endpoint. */
  isRoute(url: string | undefined): boolean {
    return url !== undefined && this.routes.some(pattern => pattern.test(url));
  }

  /** Whether a request is for the endpoint, before the router has run. */
  lead(request: IncomingMessage): boolean {
    const path = pathOf(request);
    return this.patterns.some(pattern => pattern.test(path));
  }
}

/** The path that the router uses. Adapters with a decoding router also set a decoded `path`. */
function pathOf(request: IncomingMessage): string {
  const { path } = request as { path?: unknown };
  return typeof path === 'string' ? path : originForm(request.url ?? '').split('?', 1)[0];
}

/** Removes scheme and host from a request target, which may have them in HTTP/1.1 (RFC 9112, 3.2.2). */
export function originForm(target: string): string {
  const rest = target.replace(/^https?:\/\/[^/?#]*/i, '');
  return rest.startsWith('/') ? rest : `/${rest}`;
}

/** Parameters, wildcards, optional groups, and characters with a meaning in regular expressions. */
const TOKENS = /:\w+(?:\([^)]*\))?|\*\w*|[{}]|\\?[^\w/]/g;

/**
 * @param parameter the pattern for a parameter
 * @param wildcard the pattern for a wildcard
 */
function patternOf(path: string, parameter: string, wildcard: string): RegExp {
  const segments = path.split('/').filter(segment => segment !== '');
  const source = `/${segments.join('/')}`.replace(TOKENS, token => {
    if (/^:\w/.test(token)) return parameter;
    if (token.startsWith('*')) return wildcard;
    if (token === '{') return '(?:';
    return token === '}' ? ')?' : `\\${token.at(-1)}`;
  });
  return new RegExp(`^${source.replace(/\/$/, '')}/?$`, 'i');
}
