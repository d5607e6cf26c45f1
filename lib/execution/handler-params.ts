import type { ExecutionContext, Type } from '@nestjs/common';
import {
  ARGS_PARAM,
  ASK_PARAM,
  CONTEXT_PARAM,
  HEADER_PARAM,
  ROUTE_ARGS_METADATA,
  URI_PARAMS_PARAM,
} from '../decorators/metadata.js';
import type { ArgOptions } from '../decorators/params.decorator.js';
import { McpBootstrapError } from '../exceptions/mcp-bootstrap.error.js';
import { describeTarget, paramTypesOf, type HandlerTarget } from './handler-target.js';

export type ParamKind = 'args' | 'context' | 'uri' | 'header' | 'ask' | 'custom' | 'route';

export interface HandlerParam {
  readonly kind: ParamKind;
  readonly index: number;
  /** The name or the data that the decorator received. */
  readonly data?: unknown;
  readonly options?: ArgOptions;
  readonly pipes: unknown[];
  /** Nest's number of a decorator of HTTP routes, such as `@Query()`. */
  readonly paramtype?: number;
  /** For `StandardSchemaValidationPipe` of Nest 12. */
  readonly schema?: unknown;
  readonly metatype?: Type;
  /** Creates the value of a custom decorator. */
  readonly factory?: (data: unknown, context: ExecutionContext) => unknown;
}

type StoredParam = Pick<HandlerParam, 'index'> & Partial<Omit<HandlerParam, 'kind' | 'metatype'>>;

const KINDS: Readonly<Record<string, ParamKind>> = {
  [ARGS_PARAM]: 'args',
  [CONTEXT_PARAM]: 'context',
  [URI_PARAMS_PARAM]: 'uri',
  [ASK_PARAM]: 'ask',
  [HEADER_PARAM]: 'header',
};

/**
 * The parameters from left to right.
 * @param isRoute whether the decorators of HTTP routes keep their meaning
 * @throws McpBootstrapError for a decorator of HTTP routes, such as `@Query()`, unless the method is a route
 */
export function readParams(target: HandlerTarget, isRoute = false): HandlerParam[] {
  const { handlerClass, methodName } = target;
  const stored = (Reflect.getMetadata(ROUTE_ARGS_METADATA, handlerClass, methodName) ?? {}) as Record<
    string,
    StoredParam
  >;
  const types = paramTypesOf(target);
  const params = Object.entries(stored).map(([key, param]): HandlerParam => {
    const { index, data, options, pipes = [], schema, factory } = param;
    const common = { index, data, options, pipes, schema, factory, metatype: types[index] };
    const name = key.slice(0, key.lastIndexOf(':'));
    if (isRoute && isNestParam(name, param)) return { ...common, kind: 'route', paramtype: Number(name) };
    const kind = KINDS[name] ?? (factory && 'custom');
    if (kind !== undefined) return { ...common, kind };
    throw new McpBootstrapError(
      describeTarget(target),
      `parameter ${index + 1} has a decorator that only HTTP routes have; use @Args(), @Ctx() or @UriParams() ` +
        'instead, or read the HTTP request from McpContext.request',
    );
  });
  return params.sort((a, b) => a.index - b.index);
}

/** `@Args()` has the number of `@Body()`, but stores options. */
const isNestParam = (name: string, param: StoredParam): boolean =>
  /^\d+$/.test(name) && !(name === ARGS_PARAM && 'options' in param);
