import { Injectable, type Type } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import { MCP_FEATURE } from '../constants.js';
import type { HandlerMetadata } from '../decorators/handler-options.js';
import { exploreMethods } from '../execution/explore-methods.js';
import type { HandlerTarget } from '../execution/handler-target.js';
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

/** Finds the decorated handlers of the application. */
@Injectable()
export class HandlerExplorer {
  constructor(private readonly modules: ModulesContainer) {}

  explore(): DiscoveredHandler[] {
    const servers = this.featureServers();
    return [...exploreMethods(this.modules, readHandlers)].map(found => ({
      ...found,
      featureServers: [...(servers.get(found.target.handlerClass) ?? [])],
    }));
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

  private featureServers(): FeatureServers {
    const servers: FeatureServers = new Map();
    for (const { handlers, server } of this.features()) {
      for (const type of handlers) servers.set(type, (servers.get(type) ?? new Set()).add(server));
    }
    return servers;
  }
}
