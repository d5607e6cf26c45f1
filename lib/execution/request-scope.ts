import { Injectable, Scope } from '@nestjs/common';
import { ContextIdFactory, ModuleRef } from '@nestjs/core';
import { Injector } from '@nestjs/core/injector/injector.js';
import type { ContextId } from '@nestjs/core/injector/instance-wrapper.js';
import type { Module } from '@nestjs/core/injector/module.js';
import { methodOf, type HandlerTarget, type Wrapper } from './handler-target.js';

export interface CallOrigin {
  readonly request?: object;
}

@Injectable()
export class RequestScope {
  private readonly injector = new Injector();

  constructor(private readonly moduleRef: ModuleRef) {}

  /** A call shares the DI context of its HTTP request. */
  contextIdOf(origin: CallOrigin, durable: boolean): ContextId {
    const request = origin.request ?? origin;
    const known = REQUEST_CONTEXTS.get(request);
    if (known) return known;
    const contextId = ContextIdFactory.getByRequest(request as Record<string, unknown>);
    REQUEST_CONTEXTS.set(request, contextId);
    const { payload } = contextId as { payload?: object };
    if (!durable && origin.request) Object.assign(origin.request, payload);
    // Durable providers get the shared payload, as in Nest's router.
    this.moduleRef.registerRequestByContextId(durable ? payload : request, contextId);
    return contextId;
  }

  /** Returns the instance for a context, and creates the instance's enhancers. */
  load(wrapper: Wrapper, contextId: ContextId): Promise<object> {
    const { controllers, providers } = wrapper.host as Module;
    const collection = controllers.has(wrapper.token) ? controllers : providers;
    return this.injector.loadPerContext(
      wrapper.instance as object,
      wrapper.host!,
      collection,
      contextId,
      wrapper,
    );
  }

  /** Returns a function that calls the method on the instance for a call. @throws Error for a transient provider */
  caller({
    instance,
    methodName,
    wrapper,
  }: HandlerTarget): (origin: CallOrigin, ...args: unknown[]) => unknown {
    if (wrapper?.scope === Scope.TRANSIENT) {
      throw new Error(
        'its class is a transient provider, and a transient provider has no instance to call; use another scope',
      );
    }
    if (!wrapper || wrapper.isDependencyTreeStatic()) {
      // Bound at start, as Nest does for controllers.
      const method = methodOf(instance, methodName).bind(instance);
      return (_origin, ...args) => method(...args);
    }
    return async (origin, ...args) => {
      const host = await this.load(wrapper, this.contextIdOf(origin, wrapper.isDependencyTreeDurable()));
      return methodOf(host, methodName).apply(host, args);
    };
  }
}

const REQUEST_CONTEXTS = new WeakMap<object, ContextId>();
