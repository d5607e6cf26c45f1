import type { PipeTransform, Type } from '@nestjs/common';
import {
  ARGS_PARAM,
  CONTEXT_PARAM,
  CUSTOM_PARAM,
  HEADER_PARAM,
  ROUTE_ARGS_METADATA,
  URI_PARAMS_PARAM,
  ASK_PARAM,
} from './metadata.js';
import type { SchemaLike } from '../schema/types.js';

type Pipe = Type<PipeTransform> | PipeTransform;

export interface ArgOptions {
  name: string;
  /** Default: false. */
  optional?: boolean;
  /** Description for the model. */
  description?: string;
}

export function parameter(
  kind: string,
  data?: unknown,
  pipes: Pipe[] = [],
  options?: ArgOptions,
): ParameterDecorator {
  return (target, key, index) => {
    if (key === undefined) return;
    // Own metadata only: an overriding method has other parameters.
    const declared = (Reflect.getOwnMetadata(ROUTE_ARGS_METADATA, target.constructor, key) ?? {}) as object;
    Reflect.defineMetadata(
      ROUTE_ARGS_METADATA,
      {
        ...declared,
        [`${kind}:${index}`]: { index, data, pipes, options, ...(isCustom(kind) && { factory: noValue }) },
      },
      target.constructor,
      key,
    );
  };
}

const isCustom = (kind: string): boolean => kind.endsWith(CUSTOM_PARAM);
const noValue = () => undefined;

/**
 * The validated arguments of the call: all of them, or the argument with the given name. Pipes run as on `@Body()`.
 * @example
 * ```ts
 * @Tool()
 * search(@Args() query: SearchDto) {}
 *
 * @Tool()
 * half(@Args('of', ParseIntPipe) of: number) {}
 *
 * @Tool()
 * greet(@Args({ name: 'loud', optional: true }) loud?: boolean) {}
 * ```
 */
export function Args(...pipes: Pipe[]): ParameterDecorator;
export function Args(argument: string | ArgOptions, ...pipes: Pipe[]): ParameterDecorator;
export function Args(first?: string | ArgOptions | Pipe, ...rest: Pipe[]): ParameterDecorator {
  if (typeof first === 'string') return parameter(ARGS_PARAM, first, rest, { name: first });
  if (isArgOptions(first)) return parameter(ARGS_PARAM, first.name, rest, first);
  return parameter(ARGS_PARAM, undefined, first === undefined ? rest : [first, ...rest]);
}

/**
 * The `McpContext` of the call.
 * @example
 * ```ts
 * @Tool()
 * whoami(@Ctx() ctx: McpContext) {
 *   return ctx.authInfo?.clientId;
 * }
 * ```
 */
export const Ctx = (): ParameterDecorator => parameter(CONTEXT_PARAM);

/**
 * The decoded variables of the URI: all of them, or the variable with the given name.
 * @example
 * ```ts
 * @ResourceTemplate({ uriTemplate: 'users://{id}/avatar' })
 * avatar(@UriParams('id') id: string) {}
 * ```
 */
export const UriParams = (name?: string): ParameterDecorator => parameter(URI_PARAMS_PARAM, name);

/**
 * The argument of a tool that clients repeat in the header `Mcp-Param-<name>`, or undefined. The input must declare the
 * header with `@McpHeader('Region')`. With 2026-07-28 over HTTP, the server has compared the header with the argument.
 * Specification 2026-07-28: basic/transports/streamable-http.
 * @example
 * ```ts
 * @Tool()
 * orders(@Args() query: OrdersDto, @HeaderParam('Region') region?: string) {}
 * ```
 */
export const HeaderParam = (name: string): ParameterDecorator => parameter(HEADER_PARAM, name);

function isArgOptions(value: unknown): value is ArgOptions {
  return typeof value === 'object' && value !== null && 'name' in value && !('transform' in value);
}

export interface AskOptions {
  /** The message to the user. A function receives the validated arguments. */
  message: string | ((args: never) => string);
  /** Schema of a flat object. Default: the class of the parameter. */
  schema?: SchemaLike;
  /**
   * If the user declines or dismisses the form, `refuse` fails the call and `pass` passes `undefined`. Default:
   * `refuse`.
   */
  onDecline?: 'refuse' | 'pass';
}

/**
 * Asks the user to fill in a form before the handler runs (2026-07-28: basic/patterns/mrtr). All forms of a handler are
 * sent in one round.
 * @param key identifies the form in the handler
 * @example
 * ```ts
 * @Tool()
 * deploy(@Ask('region', { message: 'Where?', schema: RegionDto }) region: RegionDto) {
 *   return region.name;
 * }
 * ```
 */
export const Ask = (key: string, options: AskOptions): ParameterDecorator =>
  parameter(ASK_PARAM, { key, ...options });
