import type { IncomingMessage } from 'node:http';

/** The paths of an endpoint, for the gates, which look at requests that the endpoint has not seen. */
export class EndpointPaths {
  private patterns: readonly RegExp[] = [];
  private routes: readonly RegExp[] = [];
  /** Whether other routes of the application may have paths that look like the endpoint's. */
  mayBeShared = false;

  /** @param paths the patterns of the endpoint's paths, as Nest has them */
  watch(paths: readonly string[]): void {
    this.patterns = paths.map(path => patternOf(path, '[^/]+', '.+'));
    this.routes = paths.map(path => patternOf(path, ':[^/]+', '.*\\*'));
    this.mayBeShared = paths.some(path => /[:*]/.test(path));
  }

  /** Whether a route that the router has found is the endpoint's. */
  isRoute(url: string | undefined): boolean {
    return url !== undefined && this.routes.some(pattern => pattern.test(url));
  }

  /** Whether a request is for the endpoint, if no router has looked at it yet. */
  lead(request: IncomingMessage): boolean {
    const path = pathOf(request);
    return this.patterns.some(pattern => pattern.test(path));
  }
}

/** The path that the router goes by. Adapters whose router decodes it have decoded it in `path`, too. */
function pathOf(request: IncomingMessage): string {
  const { path } = request as { path?: unknown };
  return typeof path === 'string' ? path : originForm(request.url ?? '').split('?', 1)[0];
}

/** A request target without scheme and host, which it may have in HTTP/1.1 (RFC 9112, 3.2.2). */
export function originForm(target: string): string {
  const rest = target.replace(/^https?:\/\/[^/?#]*/i, '');
  return rest.startsWith('/') ? rest : `/${rest}`;
}

/** Parameters, wildcards, optional groups, and what has a meaning in regular expressions. */
const TOKENS = /:\w+(?:\([^)]*\))?|\*\w*|[{}]|\\?[^\w/]/g;

/**
 * @param parameter what stands for one
 * @param wildcard what stands for one
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
