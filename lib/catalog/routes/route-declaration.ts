import { RequestMethod, type Type } from '@nestjs/common';
import { declaredMethodOf, type HandlerTarget } from '../../execution/handler-target.js';
import type { RouteSource } from '../../execution/route-paths.js';

/** Nest's metadata keys of routes, on methods and controllers. */
const PATH = 'path';
const METHOD = 'method';
const VERSION = '__version__';

/** A method of a controller that serves an HTTP route. */
export interface RouteDeclaration {
  /** HTTP method, such as `POST`; `ALL` for `@All()`. */
  readonly verb: string;
  readonly requestMethod: RequestMethod;
  readonly controllerPath: string;
  readonly methodPath: string;
  readonly version: RouteSource['version'];
  readonly module: Type;
}

/** The route of a controller's method; undefined for other methods. */
export function routeOf(target: HandlerTarget): RouteDeclaration | undefined {
  const { wrapper, handlerClass } = target;
  const module = wrapper?.host;
  if (!module || module.controllers.get(wrapper.token) !== wrapper) return undefined;
  const method = declaredMethodOf(target);
  const requestMethod = Reflect.getMetadata(METHOD, method) as RequestMethod | undefined;
  if (requestMethod === undefined) return undefined;
  const first = (paths: unknown) => String((Array.isArray(paths) ? paths[0] : paths) ?? '');
  return {
    verb: RequestMethod[requestMethod],
    requestMethod,
    controllerPath: first(Reflect.getMetadata(PATH, handlerClass)),
    methodPath: first(Reflect.getMetadata(PATH, method)),
    version: (Reflect.getMetadata(VERSION, method) ??
      Reflect.getMetadata(VERSION, handlerClass)) as RouteSource['version'],
    module: module.metatype,
  };
}
