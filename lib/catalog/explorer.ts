import { Injectable, type InjectionToken, type Type } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import type { ExtensionMethodMetadata, McpExtensionOptions } from '../decorators/extension.decorators.js';
import type { HandlerMetadata } from '../decorators/handler-options.js';
import {
  EXTENSION_METADATA,
  EXTENSION_METHOD_METADATA,
  HANDLER_METADATA,
  NO_TOOL_METADATA,
} from '../decorators/metadata.js';
import { McpBootstrapError } from '../exceptions/mcp-bootstrap.error.js';
import { exploreMethods, type DeclaredMethod } from '../execution/explore-methods.js';
import type { HandlerTarget, Wrapper } from '../execution/handler-target.js';
import { routeOf, type RouteDeclaration } from './routes/route-declaration.js';

/**
 * Token of each `McpModule.forFeature` declaration. It is a string, so that the CommonJS and the ES build of the
 * package share it.
 */
export const MCP_FEATURE: InjectionToken = 'nestjs-mcp:feature';

export interface McpFeature {
  readonly handlers: readonly Type[];
  readonly server?: string;
}

export interface DiscoveredHandler {
  readonly metadata: HandlerMetadata;
  readonly target: HandlerTarget;
  /** The servers that `forFeature` names for the class; undefined stands for the first server. */
  readonly featureServers: readonly (string | undefined)[];
}

/** A provider or controller with `@McpExtension` or `@ExtensionMethod`. */
export interface DeclaredExtension {
  /** Undefined if only methods of the class are declared. */
  readonly options?: McpExtensionOptions;
  readonly wrapper: Wrapper;
}

const readHandlers = (method: object): readonly HandlerMetadata[] =>
  (Reflect.getMetadata(HANDLER_METADATA, method) ?? []) as HandlerMetadata[];

const readMethods = (method: object): readonly ExtensionMethodMetadata[] =>
  (Reflect.getMetadata(EXTENSION_METHOD_METADATA, method) ?? []) as ExtensionMethodMetadata[];

@Injectable()
export class HandlerExplorer {
  constructor(private readonly modules: ModulesContainer) {}

  explore(): DiscoveredHandler[] {
    const servers = this.featureServers();
    return [...exploreMethods(this.modules, readHandlers)].map(handler => ({
      ...handler,
      featureServers: [...(servers.get(handler.target.handlerClass) ?? [])],
    }));
  }

  /** The routes of controllers that have no `@Tool()` of their own and are not kept out by `@Tool(false)`. */
  routesOf(
    controllers: readonly Type[],
  ): { readonly target: HandlerTarget; readonly route: RouteDeclaration }[] {
    const isTool = (method: object) => readHandlers(method).some(({ kind }) => kind === 'tool');
    const isChosen = (method: object) => !Reflect.hasMetadata(NO_TOOL_METADATA, method) && !isTool(method);
    const methods = exploreMethods(this.modules, method => (isChosen(method) ? [undefined] : []));
    return [...methods].flatMap(({ target }) => {
      const route = controllers.includes(target.handlerClass) ? routeOf(target) : undefined;
      return route ? [{ target, route }] : [];
    });
  }

  extensions(): ReadonlyMap<object, DeclaredExtension> {
    const found = new Map<object, DeclaredExtension>();
    for (const { providers, controllers } of this.modules.values()) {
      for (const wrapper of [...providers.values(), ...controllers.values()]) {
        const instance = wrapper.isAlias ? undefined : (wrapper.instance as object | null | undefined);
        const type = instance?.constructor;
        if (!instance || !type) continue;
        const options = Reflect.getMetadata(EXTENSION_METADATA, type) as McpExtensionOptions | undefined;
        const hasMethods = Reflect.hasMetadata(EXTENSION_METHOD_METADATA, type);
        if (options || hasMethods) found.set(instance, { options, wrapper });
      }
    }
    return found;
  }

  extensionMethods(): DeclaredMethod<ExtensionMethodMetadata>[] {
    return [...exploreMethods(this.modules, readMethods)];
  }

  isController(type: Type): boolean {
    return [...this.modules.values()].some(({ controllers }) => controllers.has(type));
  }

  /** The servers that `forFeature` names for a class; undefined stands for the first server. */
  serversOf(type: Type): readonly (string | undefined)[] {
    return [...(this.featureServers().get(type) ?? [])];
  }

  /** The classes of `forFeature` that no module provides. */
  unprovided(): McpBootstrapError[] {
    const found = [...exploreMethods(this.modules, readHandlers)];
    const classes = new Set(found.map(({ target }) => target.handlerClass));
    return [...this.featureServers().keys()]
      .filter(type => !classes.has(type) && !this.isProvided(type))
      .map(
        ({ name }) =>
          new McpBootstrapError(
            `McpModule.forFeature([${name}])`,
            `no module provides ${name}; list it in the "providers" of a module`,
          ),
      );
  }

  private isProvided(type: Type): boolean {
    return [...this.modules.values()].some(
      ({ providers, controllers }) => providers.has(type) || controllers.has(type),
    );
  }

  private featureServers(): Map<Type, Set<string | undefined>> {
    const servers = new Map<Type, Set<string | undefined>>();
    for (const module of this.modules.values()) {
      const feature = module.providers.get(MCP_FEATURE)?.instance as McpFeature | undefined;
      for (const type of feature?.handlers ?? []) {
        servers.set(type, (servers.get(type) ?? new Set()).add(feature?.server));
      }
    }
    return servers;
  }
}
