import type { Type } from '@nestjs/common';
import { MetadataScanner, type ModulesContainer } from '@nestjs/core';
import { declaredMethodOf, type HandlerTarget } from './handler-target.js';

export interface DeclaredMethod<T> {
  readonly metadata: T;
  readonly target: HandlerTarget;
}

const scanner = new MetadataScanner();

/** Finds declarations on the methods of all providers and controllers, in Nest's order. */
export function* exploreMethods<T>(
  modules: ModulesContainer,
  read: (method: object) => readonly T[],
): Generator<DeclaredMethod<T>> {
  const seen = new Set<object>();
  for (const [moduleKey, module] of modules) {
    for (const wrapper of [...module.providers.values(), ...module.controllers.values()]) {
      const instance = wrapper.instance;
      if (wrapper.isAlias || typeof instance !== 'object' || instance === null || seen.has(instance))
        continue;
      seen.add(instance);
      const prototype = Object.getPrototypeOf(instance) as object | null;
      if (prototype === null || prototype === Object.prototype) continue;
      const handlerClass = prototype.constructor as Type;
      for (const methodName of scanner.getAllMethodNames(prototype)) {
        for (const metadata of read(declaredMethodOf({ instance, methodName }))) {
          yield { metadata, target: { instance, methodName, handlerClass, moduleKey, wrapper } };
        }
      }
    }
  }
}
