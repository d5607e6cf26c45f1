import { Injectable, type NestModule, type RequestMethod } from '@nestjs/common';
import { ModulesContainer, type AbstractHttpAdapter } from '@nestjs/core';

/** A callback that Nest has bound to the router, with all that Nest does around the middleware. */
export type BoundCallback = (request: object, response: object, next: (error?: unknown) => void) => unknown;

/** One binding of middleware. */
export interface MiddlewareLayer {
  /** Method of the router: `use` for a prefix, `all` and `get`, `post` … for a whole path. */
  readonly verb: string;
  readonly path: string;
  readonly callback: BoundCallback;
}

export type Bind = (path: string, callback: BoundCallback) => unknown;

/** The part of an adapter with which Nest binds middleware. */
export interface BindingAdapter {
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
      const { recorderOf } = await import('./binding-recorder.js');
      const record = await recorderOf(adapter, create, method, layer => this.layers.push(layer));
      return (path, callback) => {
        record(path, callback);
        return bind(path, callback);
      };
    };
  }
}
