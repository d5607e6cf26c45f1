import { Injectable, type DynamicModule, type Type } from '@nestjs/common';
import { ApplicationConfig, LazyModuleLoader, ModulesContainer } from '@nestjs/core';
import { callModuleInitHook } from '@nestjs/core/hooks/on-module-init.hook.js';
import { STATIC_CONTEXT } from '@nestjs/core/injector/constants.js';
import { Injector } from '@nestjs/core/injector/injector.js';
import type { Wrapper } from './handler-target.js';

/** Provides classes once Nest has put the application together, and makes up for what Nest does only before that. */
@Injectable()
export class LateProviders {
  private readonly injector = new Injector();

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
    // The importing module comes first; hooks start with the imported ones.
    const added = [...this.modules].filter(([key]) => !before.has(key)).map(([, module]) => module);
    for (const module of added.reverse()) {
      for (const host of module.entryProviders) await this.attachGlobals(host);
      await callModuleInitHook(module);
    }
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
