import type { DynamicModule, FactoryProvider } from '@nestjs/common';

/** Options of a module that a factory makes. */
export interface AsyncOptions<T> {
  /** Modules that export what the factory injects. Default: none. */
  imports?: DynamicModule['imports'];
  /** Providers that the factory is called with. Default: none. */
  inject?: FactoryProvider['inject'];
  /** Makes the options once, while the application starts. */
  useFactory: (...dependencies: never[]) => T | Promise<T>;
}
