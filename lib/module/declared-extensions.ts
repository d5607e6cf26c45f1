import type { Type } from '@nestjs/common';
import type { ModulesContainer } from '@nestjs/core';
import type { McpExtensionOptions } from '../decorators/extension.decorators.js';
import { EXTENSION_METADATA, EXTENSION_METHOD_METADATA } from '../decorators/metadata.js';
import type { Wrapper } from '../execution/handler-target.js';

export interface DeclaredExtension {
  /** Undefined if only methods of the class are declared. */
  readonly options?: McpExtensionOptions;
  readonly wrapper: Wrapper;
}

/** The providers and controllers with `@McpExtension` or `@ExtensionMethod`. */
export function declaredExtensions(modules: ModulesContainer): ReadonlyMap<object, DeclaredExtension> {
  const found = new Map<object, DeclaredExtension>();
  for (const { providers, controllers } of modules.values()) {
    for (const wrapper of [...providers.values(), ...controllers.values()]) {
      const instance: unknown = wrapper.isAlias ? undefined : wrapper.instance;
      if (typeof instance !== 'object' || instance === null) continue;
      const type = instance.constructor as Type | undefined;
      if (!type) continue;
      const options = Reflect.getMetadata(EXTENSION_METADATA, type) as McpExtensionOptions | undefined;
      const hasMethods = Reflect.hasMetadata(EXTENSION_METHOD_METADATA, type);
      if (options || hasMethods) found.set(instance, { options, wrapper });
    }
  }
  return found;
}
