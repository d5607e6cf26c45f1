import { Injectable, SetMetadata } from '@nestjs/common';
import { STATIC_CONTEXT } from '@nestjs/core/injector/constants.js';
import type { ModulesContainer } from '@nestjs/core';
import { ENTRY_PROVIDER_WATERMARK } from '../decorators/metadata.js';
import { McpBootstrapError } from '../exceptions/mcp-bootstrap.error.js';
import { describeTarget, type HandlerTarget, type Wrapper } from './handler-target.js';

/**
 * Nest makes request-scoped and transient global enhancers only for controllers and entry providers. This entry provider
 * stands in for the class of a factory or of a handler added at run time: without it, guards would vanish.
 */
@Injectable()
@SetMetadata(ENTRY_PROVIDER_WATERMARK, true)
export class StandInHost {}

/** The class for which Nest makes a handler's enhancers. @throws McpBootstrapError if one of them is missing */
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
    `${missing.name as string} is transient, and this version of Nest makes no instance of it for a provider; ` +
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
    const wrapper = providers.get(StandInHost);
    if (wrapper) return wrapper;
  }
  throw new Error('StandInHost is a provider of McpCoreModule');
}
