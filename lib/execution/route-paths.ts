import { RequestMethod, type ControllerOptions, type Type } from '@nestjs/common';
import type { ApplicationConfig } from '@nestjs/core';
import { RoutePathFactory } from '@nestjs/core/router/route-path-factory.js';

/** Nest's key for the path of `RouterModule`; the application's id follows it. */
const MODULE_PATH = '__module_path__';

type RouteMetadata = Parameters<RoutePathFactory['create']>[0];

export interface RouteSource {
  /** Path of the controller. */
  readonly path: string;
  /** Path of the method. Default: `/`. */
  readonly methodPath?: string;
  readonly version?: ControllerOptions['version'];
  readonly module: Type;
  readonly applicationId: string;
}

/** The route's paths with global prefix, exclusions, URI versions and `RouterModule`. */
export function routePaths(
  config: ApplicationConfig,
  source: RouteSource,
  method = RequestMethod.ALL,
): string[] {
  const { path, methodPath = '/', version, module, applicationId } = source;
  const versioningOptions = config.getVersioning();
  const metadata = {
    ctrlPath: withSlash(path),
    methodPath: withSlash(methodPath),
    globalPrefix: withSlash(config.getGlobalPrefix()),
    modulePath: Reflect.getMetadata(MODULE_PATH + applicationId, module) as string | undefined,
    controllerVersion: version ?? versioningOptions?.defaultVersion,
    versioningOptions,
  };
  // Nest does not export the symbols that its types use.
  return new RoutePathFactory(config).create(metadata as RouteMetadata, method);
}

const withSlash = (path: string): string => (path === '' || path.startsWith('/') ? path : `/${path}`);
