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

export type ParamKind = 'args' | 'context' | 'uri' | 'header' | 'ask' | 'custom';

export interface HandlerParam {
  readonly kind: ParamKind;
  readonly index: number;
  /** The name or the data that the decorator received. */
  readonly data?: unknown;
  readonly options?: ArgOptions;
  readonly pipes: unknown[];
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

/** The parameters from left to right. @throws McpBootstrapError for a decorator of HTTP routes, such as `@Query()` */
export function readParams(target: HandlerTarget): HandlerParam[] {
  const { handlerClass, methodName } = target;
  const stored = (Reflect.getMetadata(ROUTE_ARGS_METADATA, handlerClass, methodName) ?? {}) as Record<
    string,
    StoredParam
  >;
  const types = paramTypesOf(target);
  const params = Object.entries(stored).map(
    ([key, { index, data, options, pipes = [], schema, factory }]) => {
      const kind = factory ? 'custom' : KINDS[key.slice(0, key.lastIndexOf(':'))];
      if (kind === undefined) {
        throw new McpBootstrapError(
          describeTarget(target),
          `parameter ${index + 1} has a decorator that only HTTP routes have; use @Args(), @Ctx() or @UriParams() ` +
            'instead, or read the HTTP request from McpContext.request',
        );
      }
      return { kind, index, data, options, pipes, schema, factory, metatype: types[index] };
    },
  );
  return params.sort((a, b) => a.index - b.index);
}
