import type { IncomingMessage } from 'node:http';

/** The paths of an endpoint, for what looks at requests before the framework has routed them. */
export class EndpointPaths {
  private patterns: readonly RegExp[] = [];

  /** @param paths the paths of the endpoint; those of other routes are none of its business */
  watch(paths: readonly string[]): void {
    this.patterns = paths.map(path => {
      const segments = path.split('/').filter(segment => segment !== '');
      const pattern = segments.map(segment => `/${/^[:*]/.test(segment) ? '[^/]+' : escapeRegExp(segment)}`);
      return new RegExp(`^${pattern.join('')}/?$`, 'i');
    });
  }

  /** Whether a request is for the endpoint. */
  lead(request: IncomingMessage): boolean {
    const url = (request as { originalUrl?: string }).originalUrl ?? request.url ?? '';
    const query = url.indexOf('?');
    const path = query < 0 ? url : url.slice(0, query);
    return this.patterns.some(pattern => pattern.test(path));
  }
}

const escapeRegExp = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
