import type { Type } from '@nestjs/common';
import type { Module } from '@nestjs/core/injector/module.js';
import { McpBootstrapError } from '../exceptions/mcp-bootstrap.error.js';
import type { HandlerParam } from './handler-params.js';
import { declaredMethodOf, describeTarget, type HandlerTarget } from './handler-target.js';

const ENHANCERS = ['__guards__', '__interceptors__', '__pipes__', '__exceptionFilters__'];

/**
 * Nest silently drops an enhancer class that the handler's module does not have. A missing guard is a security hole.
 * @throws McpBootstrapError that names the enhancer
 */
export function assertEnhancersResolve(
  target: HandlerTarget,
  params: readonly HandlerParam[],
  module: Module | undefined,
): void {
  const owners = [target.handlerClass, declaredMethodOf(target)];
  const declared = owners.flatMap(owner =>
    ENHANCERS.flatMap(key => (Reflect.getMetadata(key, owner) ?? []) as unknown[]),
  );
  const missing = [...declared, ...params.flatMap(({ pipes }) => pipes)].find(
    (item): item is Type => typeof item === 'function' && !module?.injectables.has(item as Type),
  );
  if (missing === undefined) return;
  const { name } = target.handlerClass;
  throw new McpBootstrapError(
    describeTarget(target),
    `${missing.name} would not run, because ${name} is not registered as a class; ` +
      `list ${name} itself in providers or controllers, or pass an instance to the decorator`,
  );
}
