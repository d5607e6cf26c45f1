import type { Type } from '@nestjs/common';
import type { Module } from '@nestjs/core/injector/module.js';
import { McpBootstrapError } from '../exceptions/mcp-bootstrap.error.js';
import { describeTarget, methodOf, type HandlerTarget } from './handler-target.js';

/** Nest's metadata keys of `@UseGuards`, `@UseInterceptors`, `@UsePipes` and `@UseFilters`. */
const ENHANCERS = ['__guards__', '__interceptors__', '__pipes__', '__exceptionFilters__'];

/**
 * Nest looks an enhancer class up in the module that holds the handler's class, and drops it without a word where
 * it is not found, as for a handler that a factory returned. A guard that vanishes is a hole, so that is refused.
 * @throws McpBootstrapError naming the enhancer
 */
export function assertEnhancersResolve(target: HandlerTarget, module: Module | undefined): void {
  const owners = [target.handlerClass, methodOf(target.instance, target.methodName)];
  for (const owner of owners) {
    for (const key of ENHANCERS) {
      const declared = (Reflect.getMetadata(key, owner) ?? []) as unknown[];
      const missing = declared.find(
        item => typeof item === 'function' && !module?.injectables.has(item as Type),
      );
      if (missing !== undefined) {
        throw new McpBootstrapError(
          describeTarget(target),
          `${(missing as Type).name} would not run, because ${target.handlerClass.name} is not registered as a class; ` +
            `list ${target.handlerClass.name} itself in providers or controllers, or pass an instance to the decorator`,
        );
      }
    }
  }
}
