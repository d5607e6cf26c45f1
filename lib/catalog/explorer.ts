import { Injectable, type Type } from '@nestjs/common';
import { MetadataScanner, ModulesContainer } from '@nestjs/core';
import { MCP_FEATURE } from '../constants.js';
import type { HandlerMetadata } from '../decorators/handler-options.js';
import { methodOf, type HandlerTarget, type Wrapper } from '../execution/handler-target.js';
import { readHandlers } from './handler-metadata.accessor.js';

/** What `McpModule.forFeature` was given. */
export interface McpFeature {
  readonly handlers: readonly Type[];
  readonly server?: string;
  readonly imports: readonly unknown[];
}

/** One declaration found on a provider's or controller's method. */
export interface DiscoveredHandler {
  readonly metadata: HandlerMetadata;
  readonly target: HandlerTarget;
  /** The servers that the class was given to with `forFeature`; undefined stands for the first one. */
  readonly featureServers: readonly (string | undefined)[];
}

type FeatureServers = Map<Type, Set<string | undefined>>;

/** Finds every decorated method of every provider and controller, in the order in which Nest holds them. */
@Injectable()
export class HandlerExplorer {
  private readonly scanner = new MetadataScanner();

  constructor(private readonly modules: ModulesContainer) {}

  explore(): DiscoveredHandler[] {
    const servers = this.featureServers();
    const seen = new Set<object>();
    const found: DiscoveredHandler[] = [];
    for (const [moduleKey, module] of this.modules) {
      for (const wrapper of [...module.providers.values(), ...module.controllers.values()]) {
        const instance = wrapper.instance;
        if (wrapper.isAlias || !isObject(instance) || seen.has(instance)) continue;
        seen.add(instance);
        found.push(...this.handlersOf(instance, wrapper, moduleKey, servers));
      }
    }
    return found;
  }

  /** Everything that `forFeature` was given, in all modules. */
  features(): McpFeature[] {
    const features: McpFeature[] = [];
    for (const module of this.modules.values()) {
      const feature = module.providers.get(MCP_FEATURE)?.instance as McpFeature | undefined;
      if (feature) features.push(feature);
    }
    return features;
  }

  /** Whether some module lists the class among its providers or controllers. */
  isProvided(type: Type): boolean {
    return [...this.modules.values()].some(
      ({ providers, controllers }) => providers.has(type) || controllers.has(type),
    );
  }

  private *handlersOf(
    instance: object,
    wrapper: Wrapper,
    moduleKey: string,
    servers: FeatureServers,
  ): Generator<DiscoveredHandler> {
    const prototype = Object.getPrototypeOf(instance) as object | null;
    if (prototype === null || prototype === Object.prototype) return;
    const handlerClass = prototype.constructor as Type;
    for (const methodName of this.scanner.getAllMethodNames(prototype)) {
      for (const metadata of readHandlers(methodOf(instance, methodName))) {
        const target = { instance, methodName, handlerClass, moduleKey, wrapper };
        yield { metadata, target, featureServers: [...(servers.get(handlerClass) ?? [])] };
      }
    }
  }

  private featureServers(): FeatureServers {
    const servers: FeatureServers = new Map();
    for (const { handlers, server } of this.features()) {
      for (const type of handlers) servers.set(type, (servers.get(type) ?? new Set()).add(server));
    }
    return servers;
  }
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;
