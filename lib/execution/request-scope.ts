import { Injectable, Scope } from '@nestjs/common';
import { ContextIdFactory, ModuleRef } from '@nestjs/core';
import { Injector } from '@nestjs/core/injector/injector.js';
import type { ContextId } from '@nestjs/core/injector/instance-wrapper.js';
import type { Module } from '@nestjs/core/injector/module.js';
import { methodOf, type HandlerTarget, type Wrapper } from './handler-target.js';

/** Where a call comes from: the platform's HTTP request, if one carries it. */
export interface CallOrigin {
  readonly request?: object;
}

/** Makes the instances of request-scoped and durable providers. */
@Injectable()
export class RequestScope {
  private readonly injector = new Injector();

  constructor(private readonly moduleRef: ModuleRef) {}

  /** The DI context of a call: that of the HTTP request which carries it, so both see the same instances. */
  contextIdOf(origin: CallOrigin, durable: boolean): ContextId {
    const request = origin.request ?? origin;
    const known = REQUEST_CONTEXTS.get(request);
    if (known) return known;
    const contextId = ContextIdFactory.getByRequest(request as Record<string, unknown>);
    REQUEST_CONTEXTS.set(request, contextId);
    const { payload } = contextId as { payload?: object };
    if (!durable && origin.request) Object.assign(origin.request, payload);
    // What is shared by several requests is given what they share, as Nest's router does.
    this.moduleRef.registerRequestByContextId(durable ? payload : request, contextId);
    return contextId;
  }

  /** The provider's instance in this context; its enhancers are made with it. */
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

  /**
   * What calls a method that Nest itself never calls, with the instance that belongs to where the call comes from.
   * @throws Error for a method of a transient provider
   */
  caller({
    instance,
    methodName,
    wrapper,
  }: HandlerTarget): (origin: CallOrigin, ...args: unknown[]) => unknown {
    if (wrapper?.scope === Scope.TRANSIENT) {
      throw new Error(
        'its class is a transient provider, of which there is no instance to call; use another scope',
      );
    }
    if (!wrapper || wrapper.isDependencyTreeStatic()) {
      // Taken at start, as Nest takes the methods of controllers.
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
