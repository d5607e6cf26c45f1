import type { ApplicationConfig } from '@nestjs/core';
import { RouteParamsFactory } from '@nestjs/core/router/route-params-factory.js';
import type { BoundMiddleware } from './bound-middleware.js';
import type { RouteBinding } from '../mcp-execution-context.js';
import { RecordedRouteCall, type RoutePlan } from './route-call.js';
import { RouteMiddleware } from './route-middleware.js';
import type { RouteInfo, RouteValues } from './route-request.js';

/** What a route gives to its tool. */
export interface RouteParts {
  readonly info: RouteInfo;
  readonly config: ApplicationConfig;
  /** Divides the arguments of a call. @throws InvalidArgumentsException */
  readonly values: (data: unknown) => RouteValues;
  readonly bound: BoundMiddleware;
  /** Whether the middleware of the route runs. */
  readonly hasMiddleware: boolean;
  readonly fileContent: RoutePlan['fileContent'];
  /** What of the route reads the HTTP request, such as `the guard OwnerGuard`. */
  readonly readers: readonly string[];
  /** Whether the author allows calls without an HTTP request. */
  readonly isFree: boolean;
}

/** Binds a tool to its route. */
export function routeBinding({
  info,
  config,
  values,
  bound,
  hasMiddleware,
  fileContent,
  readers,
  isFree,
}: RouteParts): RouteBinding {
  // Nest 11 has no parameter here.
  const parameters = new (RouteParamsFactory as new (config: ApplicationConfig) => RouteParamsFactory)(
    config,
  );
  const middleware = hasMiddleware ? new RouteMiddleware(bound) : undefined;
  const reader = (): string | undefined =>
    isFree ? undefined : (readers[0] ?? (middleware?.mayMatch(info) ? 'its middleware' : undefined));
  return {
    open(call) {
      const cause = call.context.request ? undefined : reader();
      if (cause !== undefined) throw new Error(`it has no HTTP request, which ${cause} may need`);
      return new RecordedRouteCall({ info, parameters, middleware, fileContent }, call, values(call.data));
    },
    overStdio: reader,
  };
}
