import { Injectable, RequestMethod, type NestModule } from '@nestjs/common';
import { ModulesContainer, type AbstractHttpAdapter } from '@nestjs/core';
import { LegacyRouteConverter } from '@nestjs/core/router/legacy-route-converter.js';

/** A callback that Nest has bound to the router, with all that Nest does around the middleware. */
export type BoundCallback = (request: object, response: object, next: (error?: unknown) => void) => unknown;

/** One binding of middleware. */
export interface MiddlewareLayer {
  /** Method of the router: `use` for a prefix, `all` and `get`, `post` … for a whole path. */
  readonly verb: string;
  readonly path: string;
  readonly callback: BoundCallback;
}

const TRANSLATORS = ['express', 'fastify'];

type Bind = (path: string, callback: BoundCallback) => unknown;

/** The part of an adapter with which Nest binds middleware. */
interface BindingAdapter {
  createMiddlewareFactory: (this: object, method: RequestMethod) => Bind | Promise<Bind>;
}

/**
 * Keeps what Nest binds with `consumer.apply().forRoutes()`, which it does not tell otherwise. The tools of routes run
 * the same middleware.
 */
@Injectable()
export class BoundMiddleware {
  readonly layers: MiddlewareLayer[] = [];
  private isCapturing = false;

  constructor(private readonly modules: ModulesContainer) {}

  /** Whether modules have middleware that Nest does not bind, because the application has no HTTP server. */
  get isUnknown(): boolean {
    if (this.isCapturing) return false;
    return [...this.modules.values()].some(
      ({ instance, name }) =>
        name !== 'McpModule' && typeof (instance as Partial<NestModule>).configure === 'function',
    );
  }

  /** Begins to record. Called while modules are configured, since Nest binds the middleware of all of them later. */
  capture(adapter: AbstractHttpAdapter): void {
    if (this.isCapturing) return;
    this.isCapturing = true;
    const binding = adapter as unknown as BindingAdapter;
    const create = binding.createMiddlewareFactory;
    binding.createMiddlewareFactory = async method => {
      const bind = await create.call(binding, method);
      const record = await this.recording(adapter, create, method);
      return (path, callback) => {
        record(path, callback);
        return bind(path, callback);
      };
    };
  }

  /** Express and Fastify translate paths for a router that only records. Other adapters bind in ways of their own. */
  private async recording(
    adapter: AbstractHttpAdapter,
    create: BindingAdapter['createMiddlewareFactory'],
    method: RequestMethod,
  ): Promise<Bind> {
    if (!TRANSLATORS.includes(adapter.getType())) {
      return (path, callback) => this.layers.push(layerOf(method, path, callback));
    }
    const recording = Object.create(adapter, { instance: { value: this.recorder(adapter) } }) as object;
    return create.call(recording, method);
  }

  private recorder(adapter: AbstractHttpAdapter): object {
    const methods = new Map<PropertyKey, Bind>();
    const methodOf = (verb: PropertyKey) => {
      const known = methods.get(verb);
      if (known) return known;
      const method: Bind = (path, callback) => this.layers.push({ verb: String(verb), path, callback });
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
}

/** A path without a method is a prefix. One with a method, or that ends in `$`, is whole. The callback compares the method. */
function layerOf(method: RequestMethod, path: string, callback: BoundCallback): MiddlewareLayer {
  const isWhole = path.endsWith('$') || method in RequestMethod;
  const converted = LegacyRouteConverter.tryConvert(path.replace(/\$$/, ''), { logs: false });
  return { verb: isWhole ? 'all' : 'use', path: converted, callback };
}
