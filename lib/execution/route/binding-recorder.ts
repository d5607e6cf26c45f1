import { RequestMethod } from '@nestjs/common';
import type { AbstractHttpAdapter } from '@nestjs/core';
import { LegacyRouteConverter } from '@nestjs/core/router/legacy-route-converter.js';

/** A callback that Nest has bound to the router, with all that Nest does around the middleware. */
export type BoundCallback = (request: object, response: object, next: (error?: unknown) => void) => unknown;

/** One binding of middleware. */
export interface MiddlewareLayer {
  /** Method of the router: `use` for a prefix, `all` and `get`, `post` … for a whole path. */
  readonly verb: string;
  readonly path: string | RegExp | readonly string[];
  readonly callback: BoundCallback;
}

export type Bind = (path: string, callback: BoundCallback) => unknown;

/** The part of an adapter with which Nest binds middleware. */
export interface BindingAdapter {
  createMiddlewareFactory: (this: object, method: RequestMethod) => Bind | Promise<Bind>;
  use: (this: object, path: unknown, ...callbacks: unknown[]) => unknown;
}

type Keep = (layer: MiddlewareLayer) => void;

const TRANSLATORS = ['express', 'fastify'];

/**
 * Records the bindings of one method. Express and Fastify translate paths for a router that only records. Other adapters
 * bind in ways of their own.
 */
export async function recorderOf(
  adapter: AbstractHttpAdapter,
  create: BindingAdapter['createMiddlewareFactory'],
  method: RequestMethod,
  keep: Keep,
): Promise<Bind> {
  if (!TRANSLATORS.includes(adapter.getType())) {
    return (path, callback) => keep(layerOf(method, path, callback));
  }
  const instance = recordingRouter(adapter, keep);
  return create.call(Object.create(adapter, { instance: { value: instance } }) as object, method);
}

/** A path without a method is a prefix. One with a method, or that ends in `$`, is whole. The callback compares the method. */
function layerOf(method: RequestMethod, path: string, callback: BoundCallback): MiddlewareLayer {
  const isWhole = path.endsWith('$') || method in RequestMethod;
  const converted = LegacyRouteConverter.tryConvert(path.replace(/\$$/, ''), { logs: false });
  return { verb: isWhole ? 'all' : 'use', path: converted, callback };
}

function recordingRouter(adapter: AbstractHttpAdapter, keep: Keep): object {
  const methods = new Map<PropertyKey, Bind>();
  const methodOf = (verb: PropertyKey) => {
    const known = methods.get(verb);
    if (known) return known;
    const method: Bind = (path, callback) => keep({ verb: String(verb), path, callback });
    methods.set(verb, method);
    return method;
  };
  return new Proxy(adapter.getInstance<object>(), {
    get(target, property): unknown {
      const value: unknown = Reflect.get(target, property, target);
      return typeof value === 'function' && property !== 'router' ? methodOf(property) : value;
    },
  });
}
