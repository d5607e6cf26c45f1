import { AsyncLocalStorage } from 'node:async_hooks';
import { match } from 'path-to-regexp';
import type { BoundCallback, MiddlewareLayer } from './binding-recorder.js';
import type { BoundMiddleware } from './bound-middleware.js';
import type { RouteInfo } from './route-request.js';
import type { RouteResponse } from './route-response.js';

/** Runs work in an async context. */
export type Runner = <T>(work: () => T) => T;

interface PlatformRequest {
  url: string;
  originalUrl: string;
  baseUrl?: string;
  method: string;
  /** Node's request, on Fastify. */
  readonly raw?: PlatformRequest;
}

/** Runs the middleware that Nest has bound to a route, as the router of the platform would. */
export class RouteMiddleware {
  private compiled?: readonly Layer[];

  constructor(private readonly bound: BoundMiddleware) {}

  /** Whether middleware may match the route. */
  mayMatch({ method, path }: RouteInfo): boolean {
    if (this.bound.isUnknown) return true;
    const url = path.replaceAll(/:[A-Za-z_$][\w$]*\??/g, 'x').replaceAll(/[{}]/g, '');
    return this.layers.some(({ matches }) => matches({ url, originalUrl: url, method }) !== undefined);
  }

  private get layers(): readonly Layer[] {
    return (this.compiled ??= this.bound.layers.map(layerOf));
  }

  /**
   * Runs the middleware that matches the URL of a request, in Nest's order.
   * @returns runs work in the async context of the last `next()`; undefined if the middleware answered
   * @throws what it threw or passed to `next()`, and the signal's reason
   */
  async run(request: object, response: RouteResponse, signal: AbortSignal): Promise<Runner | undefined> {
    let inside: Runner = work => work();
    const view = request as PlatformRequest;
    // Middleware on Fastify gets Node's request and response.
    const target = view.raw ?? view;
    const own = view.raw ? response.raw : response;
    for (const { matches, callback } of this.layers) {
      const prefix = matches(target);
      if (prefix === undefined) continue;
      const { url, baseUrl = '' } = target;
      if (prefix !== '')
        Object.assign(target, { url: withoutPrefix(url, prefix), baseUrl: baseUrl + prefix });
      const passed = await inside(() => passes(callback, target, own, response, signal));
      if (prefix !== '') Object.assign(target, { url, baseUrl });
      if (!passed) return undefined;
      inside = passed;
    }
    return inside;
  }
}

interface Layer {
  /** The prefix that the router takes from the URL, `''` for none; undefined if the request does not match. */
  readonly matches: (request: PlatformRequest) => string | undefined;
  readonly callback: BoundCallback;
}

/** The adapter of Fastify compares the path in its callback. Express compares it in its router. */
function layerOf({ verb, path, callback }: MiddlewareLayer): Layer {
  const isPrefix = verb === 'use';
  const matching = matchingOf(path, isPrefix);
  return {
    callback,
    matches: ({ url, method }) => {
      if (!isPrefix && verb !== 'all' && !isVerb(verb, method)) return undefined;
      if (isPrefix && path === '/') return '';
      const found = matching(pathOf(url));
      if (!found) return undefined;
      return isPrefix ? found.path : '';
    },
  };
}

function matchingOf(
  path: MiddlewareLayer['path'],
  isPrefix: boolean,
): (url: string) => { path: string } | false {
  if (path instanceof RegExp) return url => (path.test(url) ? { path: '' } : false);
  const paths = [path].flat().map(withoutSlash);
  return match<object>(paths, { end: !isPrefix, trailing: true });
}

const isVerb = (verb: string, method: string): boolean =>
  verb === method.toLowerCase() || (verb === 'get' && method === 'HEAD');

const withoutSlash = (path: string): string => (path.length > 1 ? path.replace(/\/+$/, '') : path);

const pathOf = (url: string): string => url.split('?', 1)[0];

function withoutPrefix(url: string, prefix: string): string {
  const rest = url.slice(prefix.length);
  return rest.startsWith('/') ? rest : `/${rest}`;
}

/** @returns runs work in the async context of `next()`; undefined if the middleware answered */
async function passes(
  callback: BoundCallback,
  request: object,
  own: object,
  response: RouteResponse,
  signal: AbortSignal,
): Promise<Runner | undefined> {
  signal.throwIfAborted();
  const { promise, resolve } = deferred<() => Runner | undefined>();
  const fail = (error: unknown) =>
    resolve(() => {
      throw error;
    });
  const abort = () => fail(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  response.onAnswer(() => resolve(() => undefined));
  const next = (error?: unknown) => {
    if (error !== undefined && error !== null) return fail(error);
    const inside = AsyncLocalStorage.snapshot();
    resolve(() => inside);
  };
  try {
    // What it throws after its answer is Nest's to log.
    void Promise.resolve(callback(request, own, next)).catch(fail);
  } catch (error) {
    fail(error);
  }
  const outcome = await promise;
  signal.removeEventListener('abort', abort);
  return outcome();
}

function deferred<T>() {
  let resolve!: (value: T) => void;
  const promise = new Promise<T>(settle => (resolve = settle));
  return { promise, resolve };
}
