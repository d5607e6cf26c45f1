import type { HandlerParam } from '../execution/handler-params.js';
import { declaredMethodOf, paramTypesOf, type HandlerTarget } from '../execution/handler-target.js';
import { compileSchema } from '../schema/compile-schema.js';
import { success } from '../schema/result.js';
import type { CompiledSchema, SchemaLike } from '../schema/types.js';
import { isDto } from './dto.js';
import { compileNamedArguments } from './named-arguments.js';

/** The handlers that have arguments, and the option that declares their schema. */
const OPTION = { tool: 'inputSchema', prompt: 'argsSchema' } as const;

type ArgumentOwner = keyof typeof OPTION;

export interface HandlerInput {
  readonly schema: CompiledSchema;
  readonly source?: SchemaLike;
}

/** The schema of a handler without arguments: whatever a client sends is dropped. */
const NO_ARGUMENTS: CompiledSchema = {
  jsonSchema: Object.freeze({ type: 'object', properties: Object.freeze({}) }),
  validate: () => success({}),
};

/**
 * The input that a method's own signature declares: the class of its `@Args()` parameter or, for parameters taken by
 * name, an object with one property each. Without decorated parameters, it is the class of the first one.
 * @throws Error if the method takes arguments that nobody would check
 */
export async function inputOf(
  target: HandlerTarget,
  params: readonly HandlerParam[],
  owner: ArgumentOwner,
): Promise<HandlerInput> {
  const option = OPTION[owner];
  const own = params.filter(({ kind }) => kind === 'args');
  const whole = own.find(({ data }) => data === undefined);
  if (own.length > 0 && !whole) return { schema: await compileNamedArguments(own, owner, option) };

  const types = paramTypesOf(target);
  const type = whole ? whole.metatype : params.length === 0 ? types[0] : undefined;
  if (isDto(type)) return { source: type, schema: await compileSchema(type, 'input') };

  const { length } = declaredMethodOf(target);
  const remedy = `declare "${option}" ({ type: 'object' } takes anything)`;
  if (isFunction(target)) {
    if (length === 0) return { schema: NO_ARGUMENTS };
    throw new Error(`its function takes arguments that nobody would check: ${remedy}`);
  }
  if (whole || (params.length === 0 && length + types.length > 0)) {
    throw new Error(
      'its arguments have no schema, so nobody would check them: their type is an interface, or imported with ' +
        '"import type", or the build has no "emitDecoratorMetadata" (tsx, esbuild); ' +
        `use a class with class-validator decorators, or ${remedy}`,
    );
  }
  assertDecorated(params, length);
  return { schema: NO_ARGUMENTS };
}

/** The class of a template's `@UriParams()` parameter, if it is one. */
export async function uriParamsOf(params: readonly HandlerParam[]): Promise<HandlerInput | undefined> {
  const type = params.find(({ kind, data }) => kind === 'uri' && data === undefined)?.metatype;
  return isDto(type) ? { source: type, schema: await compileSchema(type, 'input') } : undefined;
}

/** Whether a handler was added at run time: a function, whose parameters nobody has decorated. */
const isFunction = ({ wrapper }: HandlerTarget): boolean => wrapper === undefined;

function assertDecorated(params: readonly HandlerParam[], length: number): void {
  if (params.length === 0) return;
  const indexes = new Set(params.map(({ index }) => index));
  const bare = Array.from({ length }, (_, index) => index).find(index => !indexes.has(index));
  if (bare === undefined) return;
  throw new Error(`parameter ${bare + 1} has no decorator, so it would always be undefined: add @Args()`);
}
