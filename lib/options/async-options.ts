import type { FactoryProvider, ModuleMetadata } from '@nestjs/common';

/** Options of a module's `forRootAsync`: a factory makes the options. */
export interface AsyncOptions<T> {
  /** Modules that export what the factory injects. Default: none. */
  imports?: ModuleMetadata['imports'];
  /** Providers that the factory is called with. Default: nothing. */
  inject?: FactoryProvider['inject'];
  /** Makes the options, once, while the application starts. */
  useFactory: (...dependencies: never[]) => T | Promise<T>;
}

/** Provides the settings that `resolve` makes of the options. */
export const settingsFrom = <T, S>(
  provide: string,
  resolve: (options: T) => S | Promise<S>,
  { inject = [], useFactory }: AsyncOptions<T>,
): FactoryProvider<S> => ({
  provide,
  inject,
  useFactory: async (...dependencies: unknown[]) => resolve(await useFactory(...(dependencies as never[]))),
});
