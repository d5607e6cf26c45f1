import { Injectable, SetMetadata, type Type } from '@nestjs/common';
import { STATIC_CONTEXT } from '@nestjs/core/injector/constants.js';
import type { ModulesContainer } from '@nestjs/core';
import type { Module } from '@nestjs/core/injector/module.js';
import { ENTRY_PROVIDER_WATERMARK, VISIBLE_METADATA } from '../decorators/metadata.js';
import { McpBootstrapError } from '../exceptions/mcp-bootstrap.error.js';
import { describeTarget, type HandlerTarget, type Wrapper, declaredMethodOf } from './handler-target.js';
import type { HandlerParam } from './handler-params.js';

/**
 * Stands in for the class of a factory or of a handler added at run time. Nest creates request-scoped and transient
 * global enhancers only for controllers and entry providers; without this entry provider, guards would be lost.
 */
@Injectable()
@SetMetadata(ENTRY_PROVIDER_WATERMARK, true)
export class EnhancerHost {}

/** The class for which Nest creates a handler's enhancers. @throws McpBootstrapError if an enhancer is missing */
export function enhancerHostOf(target: HandlerTarget, modules: ModulesContainer): Wrapper {
  const host = ownHost(target) ?? standIn(modules);
  const missing = host.isDependencyTreeStatic()
    ? host
        .getEnhancersMetadata()
        ?.find(item => item.isTransient && !item.getInstanceByContextId(STATIC_CONTEXT, host.id).isResolved)
    : undefined;
  if (missing === undefined) return host;
  throw new McpBootstrapError(
    describeTarget(target),
    `${missing.name as string} is transient, and this version of Nest does not create it for a provider; ` +
      'use the default or the REQUEST scope, or update Nest',
  );
}

function ownHost({ wrapper }: HandlerTarget): Wrapper | undefined {
  const { host } = wrapper ?? {};
  if (!wrapper || !host) return undefined;
  const isHost = host.controllers.get(wrapper.token) === wrapper || host.entryProviders.includes(wrapper);
  return isHost ? wrapper : undefined;
}

function standIn(modules: ModulesContainer): Wrapper {
  for (const { providers } of modules.values()) {
    const wrapper = providers.get(EnhancerHost);
    if (wrapper) return wrapper;
  }
  throw new Error('EnhancerHost is a provider of McpCoreModule');
}

/** The guards of `@Visible` for a handler: first the guards of its class, then the guards of its method. */
export const visibleGuardsOf = (target: HandlerTarget): readonly unknown[] =>
  [target.handlerClass, declaredMethodOf(target)].flatMap(
    owner => (Reflect.getMetadata(VISIBLE_METADATA, owner) ?? []) as unknown[],
  );

const ENHANCERS = ['__guards__', '__interceptors__', '__pipes__', '__exceptionFilters__'];

/**
 * Refuses enhancer classes that the handler's module does not have. Nest silently drops them, and a missing guard is a
 * security hole.
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
  const missing = [...declared, ...visibleGuardsOf(target), ...params.flatMap(({ pipes }) => pipes)].find(
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
