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
 * The private parts of Nest's `ExternalContextCreator`. Its public `create` supports only providers and its own
 * context.
 */
export interface EnhancerCreators {
  readonly guardsContextCreator: Creator<CanActivate[]> & {
    createConcreteContext(
      guards: readonly unknown[],
      contextId?: ContextId,
      inquirerId?: string,
    ): CanActivate[];
  };
  readonly interceptorsContextCreator: Creator<NestInterceptor[]>;
  readonly pipesContextCreator: Creator<PipeTransform[]> & {
    setModuleContext(moduleKey: string): void;
    createConcreteContext(pipes: unknown[], contextId?: ContextId, inquirerId?: string): PipeTransform[];
  };
  readonly filtersContextCreator: Creator<ExternalExceptionsHandler>;
}

export const enhancerCreators = (creator: ExternalContextCreator): EnhancerCreators =>
  creator as unknown as EnhancerCreators;

/** Runs Nest's loop over guards with an existing `ExecutionContext`. */
class ContextGuardsConsumer extends GuardsConsumer {
  override createContext(args: unknown[]): ExecutionContextHost {
    return args[0] as ExecutionContextHost;
  }
}

class ContextInterceptorsConsumer extends InterceptorsConsumer {
  override createContext(args: unknown[]): ExecutionContextHost {
    return args[0] as ExecutionContextHost;
  }
}

export const guardsConsumer = new ContextGuardsConsumer();
export const interceptorsConsumer = new ContextInterceptorsConsumer();
