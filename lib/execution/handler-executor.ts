import { Injectable, Scope } from '@nestjs/common';
import { ContextIdFactory, ExternalContextCreator, ModuleRef } from '@nestjs/core';
import { Injector } from '@nestjs/core/injector/injector.js';
import type { ContextId } from '@nestjs/core/injector/instance-wrapper.js';
import type { Module } from '@nestjs/core/injector/module.js';
import { ModulesContainer } from '@nestjs/core/injector/modules-container.js';
import { McpBootstrapError } from '../exceptions/mcp-bootstrap.error.js';
import { isPiped, runPipeline, type Pipeline, type Prepare } from './handler-pipeline.js';
import { readParams, type HandlerParam } from './handler-params.js';
import { describeTarget, methodOf, type HandlerTarget } from './handler-target.js';
import type { HandlerCall } from './mcp-execution-context.js';
import { assertEnhancersResolve } from './enhancer-check.js';
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
    const { wrapper, moduleKey } = plan.target;
    if (wrapper?.scope === Scope.TRANSIENT) {
      throw new McpBootstrapError(
        describeTarget(plan.target),
        'its class is a transient provider, of which there is no instance to call; use the default or the REQUEST scope',
      );
    }
    assertEnhancersResolve(plan.target, this.modules.get(moduleKey));
    if (wrapper === undefined || wrapper.isDependencyTreeStatic()) {
      const pipeline = this.pipeline(plan);
      return call => runPipeline(pipeline, call);
    }
    return async call => {
      const contextId = this.contextIdOf(call, wrapper.isDependencyTreeDurable());
      const instance = await this.instanceOf(plan.target, contextId);
      const target = { ...plan.target, instance };
      return runPipeline(this.pipeline({ ...plan, target }, contextId, wrapper.id), call);
    };
  }

  private pipeline(plan: HandlerPlan, contextId?: ContextId, inquirerId?: string): Pipeline {
    const { instance, methodName, moduleKey } = plan.target;
    const { guardsContextCreator, interceptorsContextCreator, pipesContextCreator, filtersContextCreator } =
      this.creators;
    const of = [instance, methodOf(instance, methodName), moduleKey, contextId, inquirerId] as const;
    const pipes = pipesContextCreator.create(...of);
    return {
      ...plan,
      guards: guardsContextCreator.create(...of),
      interceptors: interceptorsContextCreator.create(...of),
      filters: filtersContextCreator.create(...of),
      params: plan.params.map(param => {
        if (!isPiped(param)) return { ...param, transforms: [] };
        pipesContextCreator.setModuleContext(moduleKey);
        const own = pipesContextCreator.createConcreteContext(param.pipes, contextId, inquirerId);
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
    this.moduleRef.registerRequestByContextId(durable ? contextId.payload : request, contextId);
    return contextId;
  }

  private async instanceOf({ wrapper, moduleKey }: HandlerTarget, contextId: ContextId): Promise<object> {
    const module = this.modules.get(moduleKey) as Module;
    const collection = module.controllers.has(wrapper!.token) ? module.controllers : module.providers;
    return this.injector.loadPerContext(wrapper!.instance as object, module, collection, contextId, wrapper);
  }
}

const REQUEST_CONTEXTS = new WeakMap<object, ContextId>();
