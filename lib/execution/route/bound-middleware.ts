import { Injectable, type NestModule } from '@nestjs/common';
import { HttpAdapterHost, ModulesContainer, type AbstractHttpAdapter } from '@nestjs/core';
import type { BindingAdapter, MiddlewareLayer } from './binding-recorder.js';

/**
 * Keeps what Nest binds with `consumer.apply().forRoutes()`, which it does not tell otherwise, and what `app.use()` binds
 * to a path. The tools of routes run the same middleware. What `app.use()` binds without a path has run for the endpoint.
 */
@Injectable()
export class BoundMiddleware {
  readonly layers: MiddlewareLayer[] = [];
  private isCapturing = false;

  constructor(
    private readonly modules: ModulesContainer,
    host: HttpAdapterHost,
  ) {
    const adapter = host.httpAdapter as unknown as Partial<BindingAdapter> | undefined;
    const use = adapter?.use;
    if (!use) return;
    adapter.use = (path, ...callbacks) => {
      const isOwn = !this.isCapturing && typeof path !== 'function' && path !== '/';
      for (const callback of isOwn ? callbacks.flat().filter(isNoErrorHandler) : []) {
        this.layers.push({ verb: 'use', path, callback } as MiddlewareLayer);
      }
      return use.call(adapter, path, ...callbacks);
    };
  }

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

/** Express calls functions of four parameters only after an error. */
const isNoErrorHandler = (callback: unknown): boolean => (callback as { length: number }).length < 4;
