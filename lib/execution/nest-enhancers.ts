import type { CanActivate, NestInterceptor, PipeTransform } from '@nestjs/common';
import type { ExternalContextCreator } from '@nestjs/core';
import type { ExternalExceptionsHandler } from '@nestjs/core/exceptions/external-exceptions-handler.js';
import { GuardsConsumer } from '@nestjs/core/guards/guards-consumer.js';
import type { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js';
import type { ContextId } from '@nestjs/core/injector/instance-wrapper.js';
import { InterceptorsConsumer } from '@nestjs/core/interceptors/interceptors-consumer.js';

type Callback = (...args: unknown[]) => unknown;

interface Creator<T> {
  create(
    instance: object,
    callback: Callback,
    moduleKey: string,
    contextId?: ContextId,
    inquirerId?: string,
  ): T;
}

/**
 * The creators that `ExternalContextCreator` is made of. Nest injects it, but keeps its parts to itself; its own
 * `create` finds only providers, builds its own `ExecutionContext` and drops a controller's guards, so it is not used.
 */
export interface EnhancerCreators {
  readonly guardsContextCreator: Creator<CanActivate[]>;
  readonly interceptorsContextCreator: Creator<NestInterceptor[]>;
  readonly pipesContextCreator: Creator<PipeTransform[]> & {
    setModuleContext(moduleKey: string): void;
    createConcreteContext(pipes: unknown[], contextId?: ContextId, inquirerId?: string): PipeTransform[];
  };
  readonly filtersContextCreator: Creator<ExternalExceptionsHandler>;
}

export const enhancerCreators = (creator: ExternalContextCreator): EnhancerCreators =>
  creator as unknown as EnhancerCreators;

/** Nest's guard loop, over an `ExecutionContext` that exists already. */
class ContextGuardsConsumer extends GuardsConsumer {
  override createContext(args: unknown[]): ExecutionContextHost {
    return args[0] as ExecutionContextHost;
  }
}

/** Nest's interceptor chain, over an `ExecutionContext` that exists already. */
class ContextInterceptorsConsumer extends InterceptorsConsumer {
  override createContext(args: unknown[]): ExecutionContextHost {
    return args[0] as ExecutionContextHost;
  }
}

export const guardsConsumer = new ContextGuardsConsumer();
export const interceptorsConsumer = new ContextInterceptorsConsumer();
