import {
  Injectable,
  type BeforeApplicationShutdown,
  type DynamicModule,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
  type OnModuleDestroy,
  type Type,
} from '@nestjs/common';
import { ApplicationConfig, LazyModuleLoader, ModulesContainer } from '@nestjs/core';
import { callBeforeAppShutdownHook } from '@nestjs/core/hooks/before-app-shutdown.hook.js';
import { callModuleBootstrapHook } from '@nestjs/core/hooks/on-app-bootstrap.hook.js';
import { callAppShutdownHook } from '@nestjs/core/hooks/on-app-shutdown.hook.js';
import { callModuleDestroyHook } from '@nestjs/core/hooks/on-module-destroy.hook.js';
import { callModuleInitHook } from '@nestjs/core/hooks/on-module-init.hook.js';
import { STATIC_CONTEXT } from '@nestjs/core/injector/constants.js';
import { Injector } from '@nestjs/core/injector/injector.js';
import type { Module } from '@nestjs/core/injector/module.js';
import type { Wrapper } from './handler-target.js';

/**
 * Provides classes once Nest has put the application together, and makes up for what Nest does only for the modules
 * that it knows by then: it calls their hooks, and attaches global enhancers to them.
 */
@Injectable()
export class LateProviders
  implements OnApplicationBootstrap, OnModuleDestroy, BeforeApplicationShutdown, OnApplicationShutdown
{
  private readonly injector = new Injector();
  /** The modules that were added, imported ones first. */
  private readonly added: Module[] = [];

  constructor(
    private readonly loader: LazyModuleLoader,
    private readonly modules: ModulesContainer,
    private readonly config: ApplicationConfig,
  ) {}

  /** @param imports modules that export what the classes inject */
  async provide(classes: Type[], imports: DynamicModule['imports']): Promise<void> {
    const before = new Set(this.modules.keys());
    class McpFeatureHandlers {}
    await this.loader.load(() => ({ module: McpFeatureHandlers, imports, providers: classes }));
    const added = [...this.modules].filter(([key]) => !before.has(key)).map(([, module]) => module);
    for (const module of added.reverse()) {
      this.added.push(module);
      for (const host of module.entryProviders) await this.attachGlobals(host);
      await callModuleInitHook(module);
    }
  }

  /** @internal */
  async onApplicationBootstrap(): Promise<void> {
    for (const module of this.added) await callModuleBootstrapHook(module);
  }

  /** @internal */
  async onModuleDestroy(): Promise<void> {
    for (const module of this.added) await callModuleDestroyHook(module);
  }

  /** @internal */
  async beforeApplicationShutdown(signal?: string): Promise<void> {
    for (const module of this.added) await callBeforeAppShutdownHook(module, signal);
  }

  /** @internal */
  async onApplicationShutdown(signal?: string): Promise<void> {
    for (const module of this.added) await callAppShutdownHook(module, signal);
  }

  /** Nest attached the global enhancers that are request-scoped or transient while it scanned. */
  private async attachGlobals(host: Wrapper): Promise<void> {
    const { config } = this;
    const globals: Wrapper[] = [
      ...config.getGlobalRequestGuards(),
      ...config.getGlobalRequestPipes(),
      ...config.getGlobalRequestInterceptors(),
      ...config.getGlobalRequestFilters(),
    ];
    for (const enhancer of globals) host.addEnhancerMetadata(enhancer);
    if (!host.isDependencyTreeStatic()) return;
    for (const enhancer of globals) {
      await this.injector.loadInjectable(enhancer, enhancer.host!, STATIC_CONTEXT, host);
    }
  }
}
