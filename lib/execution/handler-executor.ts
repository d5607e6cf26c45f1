import { Injectable, Scope } from '@nestjs/common';
import { ExternalContextCreator, ModulesContainer } from '@nestjs/core';
import { STATIC_CONTEXT } from '@nestjs/core/injector/constants.js';
import type { ContextId } from '@nestjs/core/injector/instance-wrapper.js';
import { McpBootstrapError } from '../exceptions/mcp-bootstrap.error.js';
import {
  hidingGuardOf,
  isImmediate,
  isPiped,
  runGuards,
  runPipeline,
  type HidingGuard,
  type Pipeline,
  type PipelineParam,
  type Prepare,
} from './handler-pipeline.js';
import type { HandlerParam } from './handler-params.js';
import { declaredMethodOf, describeTarget, type HandlerTarget, type Wrapper } from './handler-target.js';
import type { HandlerCall, RouteBinding } from './mcp-execution-context.js';
import { assertEnhancersResolve, enhancerHostOf, visibleGuardsOf } from './enhancer-host.js';
import { enhancerCreators, type EnhancerCreators } from './nest-enhancers.js';
import { RequestScope } from './request-scope.js';

export interface RunHandler {
  (call: HandlerCall): Promise<unknown>;
  /** Whether the handler or its enhancers can ask the client. Other handlers run without rounds. */
  readonly canAsk: boolean;
  /**
   * Runs only the guards, for a request that concerns the handler but does not call it.
   * @throws GuardDenied
   */
  admit(call: HandlerCall): Promise<void>;
  /** The guard of `@Visible` that hides the handler from a caller, if a guard does. Undefined without such guards. */
  readonly hidingGuard?: (call: HandlerCall) => Promise<HidingGuard | undefined>;
  /** The parts of the handler, for the explorer. */
  readonly plan: HandlerPlan;
}

type Use<T> = (pipeline: Pipeline, call: HandlerCall) => Promise<T>;

export interface HandlerPlan {
  readonly target: HandlerTarget;
  readonly params: readonly HandlerParam[];
  readonly prepare: Prepare;
  readonly positional: Pipeline['positional'];
  /** Set if the method is also an HTTP route. */
  readonly route?: RouteBinding;
}

/** Compiles a method into a function that runs it as Nest would. Only this class uses Nest's internals. */
@Injectable()
export class HandlerExecutor {
  private readonly creators: EnhancerCreators;

  constructor(
    creator: ExternalContextCreator,
    private readonly modules: ModulesContainer,
    private readonly scope: RequestScope,
  ) {
    this.creators = enhancerCreators(creator);
  }

  /**
   * Builds the pipeline of a handler once. If the provider or an enhancer is request-scoped, each call builds it again.
   * @throws McpBootstrapError for a transient provider, or an enhancer that Nest would drop silently
   */
  compile(plan: HandlerPlan): RunHandler {
    const run = this.runner(plan);
    return plan.route ? asRoute(run, plan.route) : run;
  }

  private runner(plan: HandlerPlan): RunHandler {
    const { target, params } = plan;
    const { wrapper, moduleKey } = target;
    if (wrapper?.scope === Scope.TRANSIENT) {
      throw new McpBootstrapError(
        describeTarget(target),
        'its class is a transient provider, and a transient provider has no instance to call; use the default or the REQUEST scope',
      );
    }
    assertEnhancersResolve(target, params, this.modules.get(moduleKey));
    const host = enhancerHostOf(target, this.modules);
    const hasVisible = visibleGuardsOf(target).length > 0;
    if (isStatic(host) && (!wrapper || isStatic(wrapper))) {
      const pipeline = this.pipeline(plan, STATIC_CONTEXT, host);
      return Object.assign((call: HandlerCall) => runPipeline(pipeline, call), {
        canAsk: canAsk(pipeline),
        admit: (call: HandlerCall) => runGuards(pipeline, call),
        ...(hasVisible && { hidingGuard: (call: HandlerCall) => hidingGuardOf(pipeline, call) }),
        plan,
      });
    }
    const scoped = async <T>(call: HandlerCall, use: Use<T>): Promise<T> => {
      const origin = call.route ?? call.context;
      const contextId = this.scope.contextIdOf(origin, (wrapper ?? host).isDependencyTreeDurable());
      const instance = await this.scope.load(host, contextId);
      const own = wrapper === host ? instance : target.instance;
      const scopedPlan = { ...plan, target: { ...target, instance: own } };
      return use(this.pipeline(scopedPlan, contextId, host), call);
    };
    return Object.assign((call: HandlerCall) => scoped(call, runPipeline), {
      canAsk: true,
      admit: (call: HandlerCall) => scoped(call, runGuards),
      ...(hasVisible && { hidingGuard: (call: HandlerCall) => scoped(call, hidingGuardOf) }),
      plan,
    });
  }

  private pipeline(plan: HandlerPlan, contextId: ContextId, host: Wrapper): Pipeline {
    const { instance, moduleKey } = plan.target;
    const { guardsContextCreator, interceptorsContextCreator, pipesContextCreator, filtersContextCreator } =
      this.creators;
    const method = declaredMethodOf(plan.target);
    const of = [instance, method, moduleKey, contextId, host.id] as const;
    const pipes = pipesContextCreator.create(...of);
    const params = plan.params.map((param): PipelineParam => {
      if (!isPiped(param)) return { ...param, transforms: [] };
      pipesContextCreator.setModuleContext(moduleKey);
      const own = pipesContextCreator.createConcreteContext(param.pipes, contextId, host.id);
      return { ...param, transforms: [...pipes, ...own] };
    });
    // Pipes run first, so that the client is not asked for a call that a pipe refuses.
    const groups = [params.filter(({ kind }) => kind !== 'ask'), params.filter(({ kind }) => kind === 'ask')];
    const guards = guardsContextCreator.create(...of);
    return {
      ...plan,
      method,
      guards,
      // Called after `create`, which selects the module that provides the guards.
      visible: guardsContextCreator.createConcreteContext(visibleGuardsOf(plan.target), contextId, host.id),
      interceptors: interceptorsContextCreator.create(...of),
      filters: filtersContextCreator.create(...of),
      params: groups.filter(group => group.length > 0),
      isImmediate: params.every(isImmediate),
    };
  }
}

/** Each call gets the request and the response that the route would have. */
function asRoute(run: RunHandler, route: RouteBinding): RunHandler {
  const routed = async (call: HandlerCall): Promise<unknown> => {
    const opened = route.open(call);
    const running = opened.within(() => run({ ...call, route: opened }));
    return running.catch((error: unknown) => {
      throw opened.errorOf(error);
    });
  };
  return Object.assign(routed, {
    ...run,
    admit: async (call: HandlerCall) => {
      const opened = route.open(call);
      return opened.within(() => run.admit({ ...call, route: opened }));
    },
  });
}

/**
 * Enhancers and custom decorators reach the `McpContext` through the `ExecutionContext`; methods without parameter
 * decorators receive it.
 */
const canAsk = ({ guards, interceptors, params }: Pipeline): boolean =>
  guards.length + interceptors.length > 0 ||
  params.length === 0 ||
  params.flat().some(({ kind }) => kind === 'ask' || kind === 'context' || kind === 'custom');

const isStatic = (wrapper: Wrapper): boolean => wrapper.isDependencyTreeStatic();
