import { RequestMethod, type ControllerOptions, type Type } from '@nestjs/common';
import type { ApplicationConfig } from '@nestjs/core';
import { RoutePathFactory } from '@nestjs/core/router/route-path-factory.js';

/** Nest's key for the path of `RouterModule`; the application's id follows it. */
const MODULE_PATH = '__module_path__';

type RouteMetadata = Parameters<RoutePathFactory['create']>[0];

export interface RouteSource {
  readonly path: string;
  readonly version: ControllerOptions['version'];
  readonly module: Type;
  readonly applicationId: string;
}

/** The route's paths with global prefix, exclusions, URI versions and `RouterModule`. */
export function routePaths(config: ApplicationConfig, source: RouteSource): string[] {
  const { path, version, module, applicationId } = source;
  const versioningOptions = config.getVersioning();
  const metadata = {
    ctrlPath: withSlash(path),
    methodPath: '/',
    globalPrefix: withSlash(config.getGlobalPrefix()),
    modulePath: Reflect.getMetadata(MODULE_PATH + applicationId, module) as string | undefined,
    controllerVersion: version ?? versioningOptions?.defaultVersion,
    versioningOptions,
  };
  // Nest does not export the symbols that its types use.
  return new RoutePathFactory(config).create(metadata as RouteMetadata, RequestMethod.ALL);
}

const withSlash = (path: string): string => (path === '' || path.startsWith('/') ? path : `/${path}`);
