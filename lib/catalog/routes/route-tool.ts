import type { ToolAnnotations } from '@modelcontextprotocol/server';
import type { ApplicationConfig } from '@nestjs/core';
import type { ToolOptions } from '../../decorators/handler-options.js';
import { readParams, type HandlerParam } from '../../execution/handler-params.js';
import { declaredMethodOf, type HandlerTarget } from '../../execution/handler-target.js';
import { routeBinding } from '../../execution/route/route-binding.js';
import type { RouteBinding } from '../../execution/mcp-execution-context.js';
import { enhancerSteps } from '../../execution/enhancer-steps.js';
import type { BoundMiddleware } from '../../execution/route/bound-middleware.js';
import { fileContent } from '../../execution/route/file-content.js';
import { routePaths } from '../../execution/route-paths.js';
import { operationOf, resultOf } from '../../schema/swagger/operation.js';
import type { CompiledSchema, SchemaLike } from '../../schema/types.js';
import { assertServable, mediaTypeOf } from './refused.js';
import type { RouteDeclaration } from './route-declaration.js';
import { routeInput } from './route-input.js';
import { routeValues } from './route-values.js';

/** The key under which `@RouteConfig()` of `@nestjs/platform-fastify` stores its value. */
const FASTIFY_CONFIG = '__fastify_route_config__';

export interface RouteSetting {
  readonly config: ApplicationConfig;
  readonly applicationId: string;
  readonly middleware: BoundMiddleware;
}

/** The parts of a tool or a resource that a route gives. */
export interface RouteTool {
  readonly options: ToolOptions;
  /** What the decorators of the route say to the model. */
  readonly words: Pick<ToolOptions, 'description'>;
  /** Of `@Header('Content-Type', …)`. */
  readonly mediaType?: string;
  readonly params: readonly HandlerParam[];
  readonly input: { readonly source?: SchemaLike; readonly schema: CompiledSchema };
  readonly binding: RouteBinding;
}

const ANNOTATIONS: Readonly<Record<string, ToolAnnotations>> = {
  GET: { readOnlyHint: true },
  HEAD: { readOnlyHint: true },
  PUT: { idempotentHint: true },
  DELETE: { destructiveHint: true, idempotentHint: true },
};

/**
 * Compiles a route to a tool or a resource.
 * @param options of a tool; undefined for a resource
 * @throws Error for a route that no tool can serve, with the remedy
 */
export async function routeTool(
  target: HandlerTarget,
  route: RouteDeclaration,
  options: ToolOptions | undefined,
  { config, applicationId, middleware }: RouteSetting,
): Promise<RouteTool> {
  const given = options ?? {};
  const params = readParams(target, true);
  assertServable(target, params, given);
  const { controllerPath, methodPath, module, requestMethod, verb } = route;
  const [path] = routePaths(
    config,
    { path: controllerPath, methodPath, version: route.version, module, applicationId },
    requestMethod,
  );
  const input = await routeInput({ target, config }, params, path, given);
  const hasBody = input.rest === 'body' || input.args.some(({ place }) => place === 'body');
  const method = verb === 'ALL' ? (hasBody ? 'POST' : 'GET') : verb;
  const declared = declaredMethodOf(target);
  const words = wordsOf(declared);
  const mediaType = mediaTypeOf(target);
  const subject = `tool "${given.name ?? target.methodName}"`;
  return {
    options: { ...words, ...completed(given, declared, verb) },
    words,
    mediaType,
    params,
    input,
    binding: routeBinding({
      info: { method, path, config: Reflect.getMetadata(FASTIFY_CONFIG, declared) as object | undefined },
      config,
      values: data => routeValues(input, data, subject),
      bound: middleware,
      hasMiddleware: given.middleware !== false,
      fileContent: options && ((file, signal) => fileContent(file, mediaType, signal)),
      readers: readersOf(target, params, config),
      isFree: given.stdio === true,
    }),
  };
}

/** What of a route may read its HTTP request, beside its middleware. */
function readersOf(
  target: HandlerTarget,
  params: readonly HandlerParam[],
  config: ApplicationConfig,
): string[] {
  const steps = enhancerSteps({ target, params }, config).filter(({ kind }) => kind !== 'pipe');
  const custom = params.filter(({ kind }) => kind === 'custom');
  return [
    ...steps.map(({ kind, name }) => `the ${kind === 'interceptor' ? 'Nest interceptor' : kind} ${name}`),
    ...custom.map(({ index }) => `the custom decorator of parameter ${index + 1}`),
  ];
}

function wordsOf(method: object): Pick<ToolOptions, 'description'> {
  const { summary, description } = operationOf(method) ?? {};
  const texts = [...new Set([summary, description])].filter(text => text !== undefined && text !== '');
  return texts.length > 0 ? { description: texts.join('\n\n') } : {};
}

/** The options, with what follows from the HTTP method. */
function completed(given: ToolOptions, method: object, verb: string): ToolOptions {
  const annotations = { ...ANNOTATIONS[verb], ...given.annotations };
  return {
    ...given,
    ...(Object.keys(annotations).length > 0 && { annotations }),
    ...(given.outputSchema === true && { outputSchema: outputOf(method) }),
  };
}

function outputOf(method: object): SchemaLike {
  const { type, isArray } = resultOf(method) ?? {};
  if (!type)
    throw new Error(
      '"outputSchema: true" needs @ApiOkResponse({ type }) or @ApiCreatedResponse({ type }) on the route',
    );
  if (!isArray) return type;
  throw new Error(
    '"outputSchema: true" needs a result that is an object, and the route returns a list: leave it out',
  );
}
