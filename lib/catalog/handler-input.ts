import type { HandlerParam } from '../execution/handler-params.js';
import { declaredMethodOf, paramTypesOf, type HandlerTarget, isDto } from '../execution/handler-target.js';
import { compileSchema } from '../schema/compile-schema.js';
import { success } from '../schema/result.js';
import type { CompiledSchema, SchemaLike } from '../schema/types.js';
import { isZodDto, parsedDto, schemaIn } from '../schema/zod-dto.js';
import { needsDecorator, whyUnknown, withoutDecorator } from './parameter-remedies.js';

const OPTION = { tool: 'inputSchema', prompt: 'argsSchema', method: 'params' } as const;

type ArgumentOwner = keyof typeof OPTION;

export interface HandlerInput {
  readonly schema: CompiledSchema;
  readonly source?: SchemaLike;
}

/** Drops all arguments. */
const NO_ARGUMENTS: CompiledSchema = {
  jsonSchema: Object.freeze({ type: 'object', properties: Object.freeze({}) }),
  validate: () => success({}),
};

/**
 * Compiles the input that the method's signature declares. That is the class of its `@Args()` parameter, an object of
 * its named arguments, or the class of an undecorated first parameter.
 * @throws Error for arguments without a schema
 */
export async function inputOf(
  target: HandlerTarget,
  params: readonly HandlerParam[],
  owner: ArgumentOwner,
): Promise<HandlerInput> {
  assertDecorated(target, params);
  const option = OPTION[owner];
  const own = params.filter(({ kind }) => kind === 'args');
  const whole = own.find(({ data }) => data === undefined);
  if (own.length > 0 && !whole) {
    const { compileNamedArguments } = await import('./named-arguments.js');
    return { schema: await compileNamedArguments(own, owner, option) };
  }

  const types = paramTypesOf(target);
  const type = whole ? whole.metatype : params.length === 0 ? types[0] : undefined;
  if (isDto(type)) return { source: type, schema: await compileSchema(type, 'input') };

  const { length } = declaredMethodOf(target);
  const remedy = `declare "${option}" ({ type: 'object' } takes anything)`;
  if (isFunction(target)) {
    if (length === 0) return { schema: NO_ARGUMENTS };
    throw new Error(`its function takes arguments without a schema, so they would not be checked: ${remedy}`);
  }
  if (whole || (params.length === 0 && length + types.length > 0)) {
    const cause = whyUnknown(type, `parameter ${(whole?.index ?? 0) + 1}`);
    throw new Error(`its arguments have no schema, so they would not be checked: ${cause}, or ${remedy}`);
  }
  return { schema: NO_ARGUMENTS };
}

export async function uriParamsOf(params: readonly HandlerParam[]): Promise<HandlerInput | undefined> {
  const type = params.find(({ kind, data }) => kind === 'uri' && data === undefined)?.metatype;
  return isDto(type) ? { source: type, schema: await compileSchema(type, 'input') } : undefined;
}

/**
 * The parameters as their pipes see them, which do not parse a DTO of nestjs-zod again.
 * @param declared the schema of the handler's options. It may differ from the parameter's, which the pipes then check.
 */
export const parsedParams = (
  params: readonly HandlerParam[],
  declared: SchemaLike | undefined,
): HandlerParam[] =>
  params.map(param => {
    const { kind, data, metatype } = param;
    if (kind !== 'args' || !isZodDto(metatype)) return param;
    const isParsed = !declared || (data === undefined && schemaIn(declared) === schemaIn(metatype));
    return isParsed ? { ...param, metatype: parsedDto(metatype) } : param;
  });

/** Handlers added at run time are functions without decorators. */
const isFunction = ({ wrapper }: HandlerTarget): boolean => wrapper === undefined;

/**
 * Refuses parameters without a decorator. Beside decorated parameters, they would always be undefined; alone, they would
 * receive all arguments.
 * @throws Error that says what to write
 */
function assertDecorated(target: HandlerTarget, params: readonly HandlerParam[]): void {
  const types = paramTypesOf(target);
  if (params.length === 0 && !needsDecorator(types[0])) return;
  const decorated = new Set(params.map(({ index }) => index));
  // A parameter with a default value does not count in `length`.
  const length = params.length === 0 ? types.length : declaredMethodOf(target).length;
  const bare = Array.from({ length }, (_, index) => index).filter(index => !decorated.has(index));
  const isNamed = params.some(({ kind, data }) => kind === 'args' && data !== undefined);
  if (bare.length > 0) throw new Error(withoutDecorator(target, bare, isNamed));
}
