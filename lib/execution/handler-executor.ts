import { Injectable, Scope } from '@nestjs/common';
import { ContextIdFactory, ExternalContextCreator, ModuleRef, ModulesContainer } from '@nestjs/core';
import { STATIC_CONTEXT } from '@nestjs/core/injector/constants.js';
import { Injector } from '@nestjs/core/injector/injector.js';
import type { ContextId } from '@nestjs/core/injector/instance-wrapper.js';
import type { Module } from '@nestjs/core/injector/module.js';
import { McpBootstrapError } from '../exceptions/mcp-bootstrap.error.js';
import { isPiped, runPipeline, type Pipeline, type Prepare } from './handler-pipeline.js';
import { readParams, type HandlerParam } from './handler-params.js';
import { describeTarget, methodOf, type HandlerTarget, type Wrapper } from './handler-target.js';
import type { HandlerCall } from './mcp-execution-context.js';
import { assertEnhancersResolve } from './enhancer-check.js';
import { enhancerHostOf } from './enhancer-host.js';
import { enhancerCreators, type EnhancerCreators } from './nest-enhancers.js';

/** A handler that is ready to be called. */
export type RunHandler = (call: HandlerCall) => Promise<unknown>;

/** How a handler is to be run. */
export interface HandlerPlan {
  readonly target: HandlerTarget;
  readonly params: readonly HandlerParam[];
  readonly prepare: Prepare;
  readonly positional: Pipeline['positional'];
}

/** Turns a method into a function that runs it as Nest would: the only place that touches Nest's internals. */
@Injectable()
export class HandlerExecutor {
  private readonly creators: EnhancerCreators;
  private readonly injector = new Injector();

  constructor(
    creator: ExternalContextCreator,
    private readonly modules: ModulesContainer,
    private readonly moduleRef: ModuleRef,
  ) {
    this.creators = enhancerCreators(creator);
  }

  readonly readParams = readParams;

  /**
   * Builds the pipeline of a handler once; one whose provider, or any of its enhancers, is request-scoped is
   * rebuilt for each call.
   * @throws McpBootstrapError for a transient provider, or an enhancer that Nest would drop silently
   */
  compile(plan: HandlerPlan): RunHandler {
    const { target, params } = plan;
    const { wrapper, moduleKey } = target;
    if (wrapper?.scope === Scope.TRANSIENT) {
      throw new McpBootstrapError(
        describeTarget(target),
        'its class is a transient provider, of which there is no instance to call; use the default or the REQUEST scope',
      );
    }
    assertEnhancersResolve(target, params, this.modules.get(moduleKey));
    const host = enhancerHostOf(target, this.modules);
    if (isStatic(host) && (!wrapper || isStatic(wrapper))) {
      const pipeline = this.pipeline(plan, STATIC_CONTEXT, host);
      return call => runPipeline(pipeline, call);
    }
    return async call => {
      const contextId = this.contextIdOf(call, (wrapper ?? host).isDependencyTreeDurable());
      const instance = await this.load(host, contextId);
      const own = wrapper === host ? instance : target.instance;
      return runPipeline(
        this.pipeline({ ...plan, target: { ...target, instance: own } }, contextId, host),
        call,
      );
    };
  }

  private pipeline(plan: HandlerPlan, contextId: ContextId, host: Wrapper): Pipeline {
    const { instance, methodName, moduleKey } = plan.target;
    const { guardsContextCreator, interceptorsContextCreator, pipesContextCreator, filtersContextCreator } =
      this.creators;
    const of = [instance, methodOf(instance, methodName), moduleKey, contextId, host.id] as const;
    const pipes = pipesContextCreator.create(...of);
    return {
      ...plan,
      guards: guardsContextCreator.create(...of),
      interceptors: interceptorsContextCreator.create(...of),
      filters: filtersContextCreator.create(...of),
      params: plan.params.map(param => {
        if (!isPiped(param)) return { ...param, transforms: [] };
        pipesContextCreator.setModuleContext(moduleKey);
        const own = pipesContextCreator.createConcreteContext(param.pipes, contextId, host.id);
        return { ...param, transforms: [...pipes, ...own] };
      }),
    };
  }

  /** The DI context of a call: that of the HTTP request which carries it, so both see the same instances. */
  private contextIdOf({ context }: HandlerCall, durable: boolean): ContextId {
    const request = context.request ?? context;
    const known = REQUEST_CONTEXTS.get(request);
    if (known) return known;
    const contextId = ContextIdFactory.getByRequest(request as Record<string, unknown>);
    REQUEST_CONTEXTS.set(request, contextId);
    const { payload } = contextId as { payload?: object };
    if (!durable && context.request) Object.assign(context.request, payload);
    // What is shared by several requests is given what they share, as Nest's router does.
    this.moduleRef.registerRequestByContextId(durable ? payload : request, contextId);
    return contextId;
  }

  /** The host's instance in this context; its enhancers are made with it. */
  private load(host: Wrapper, contextId: ContextId): Promise<object> {
    const { controllers, providers } = host.host as Module;
    const collection = controllers.has(host.token) ? controllers : providers;
    return this.injector.loadPerContext(host.instance as object, host.host!, collection, contextId, host);
  }
}

const isStatic = (wrapper: Wrapper): boolean => wrapper.isDependencyTreeStatic();

const REQUEST_CONTEXTS = new WeakMap<object, ContextId>();
