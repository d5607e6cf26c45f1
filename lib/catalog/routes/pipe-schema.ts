import {
  DefaultValuePipe,
  ParseArrayPipe,
  ParseBoolPipe,
  ParseDatePipe,
  ParseEnumPipe,
  ParseFloatPipe,
  ParseIntPipe,
  ParseUUIDPipe,
  ValidationPipe,
  type Type,
} from '@nestjs/common';
import type { HandlerParam } from '../../execution/handler-params.js';
import { declaredMethodOf, isDto } from '../../execution/handler-target.js';
import { swaggerCheckOf } from '../../schema/class-compiler.js';
import { enumKeywords } from '../../schema/class-rules.js';
import { compileSchema } from '../../schema/compile-schema.js';
import { REFLECTED_TYPES } from '../../schema/reflected-types.js';
import { compileValue, isStandardSchema } from '../../schema/standard-schema-compiler.js';
import type { CompiledSchema, JsonSchema } from '../../schema/types.js';
import { isZodDto, schemaIn } from '../../schema/zod-dto.js';
import type { RouteSource } from './route-types.js';

/** What the pipes of a parameter show of its input. */
export interface PipedInput {
  /** Undefined if no pipe shows anything. */
  readonly schema?: JsonSchema;
  /** Whether a pipe refuses values that the schema refuses. */
  readonly isChecked: boolean;
  /** Undefined if no pipe shows it. */
  readonly isRequired?: boolean;
}

const UUID: JsonSchema = { type: 'string', format: 'uuid' };
const DATE: JsonSchema = { type: 'string', format: 'date-time' };

/** The input of the pipes that Nest has for single values. */
const SCALARS: readonly (readonly [Type, JsonSchema])[] = [
  [ParseIntPipe, { type: 'integer' }],
  [ParseFloatPipe, { type: 'number' }],
  [ParseBoolPipe, { type: 'boolean' }],
  [ParseUUIDPipe, UUID],
  [ParseDatePipe, DATE],
];

interface PipeFields {
  readonly options?: { readonly optional?: boolean; readonly items?: Type };
  readonly enumType?: object;
  readonly defaultValue?: unknown;
  readonly schema?: unknown;
  readonly schemaOrDto?: unknown;
}

export async function pipedInput({ pipes }: HandlerParam): Promise<PipedInput> {
  let input: PipedInput = { isChecked: false };
  for (const pipe of pipes) {
    const fields = pipe as PipeFields;
    if (isPipe(pipe, DefaultValuePipe)) {
      const value = fields.defaultValue;
      const isShown = typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value);
      input = {
        ...input,
        isRequired: false,
        schema: { ...input.schema, ...(isShown && { default: value }) },
      };
      continue;
    }
    const schema = await schemaOf(pipe, fields);
    if (!schema) continue;
    const isRequired = input.isRequired ?? fields.options?.optional !== true;
    input = { schema: { ...schema, ...input.schema }, isRequired, isChecked: true };
  }
  return input;
}

async function schemaOf(
  pipe: unknown,
  { enumType, options, schema, schemaOrDto }: PipeFields,
): Promise<JsonSchema | undefined> {
  const scalar = SCALARS.find(([type]) => isPipe(pipe, type));
  if (scalar) return scalar[1];
  if (isPipe(pipe, ParseEnumPipe)) return enumType && enumKeywords(enumType);
  if (isPipe(pipe, ParseArrayPipe)) return { type: 'array', items: await itemsOf(options?.items) };
  return compiledIfAny(schemaOrDto ?? schema)?.jsonSchema;
}

async function itemsOf(type: Type | undefined): Promise<JsonSchema> {
  if (isDto(type)) return (await compileSchema(type, 'input')).jsonSchema;
  return REFLECTED_TYPES.get(type) ?? {};
}

/** Pipes of nestjs-zod, and those that an application has written, hold the schema that they check. */
function compiledIfAny(schema: unknown): CompiledSchema | undefined {
  const own = isZodDto(schema) ? schemaIn(schema) : schema;
  return typeof own === 'object' && own !== null && isStandardSchema(own) ? compileValue(own) : undefined;
}

/** A pipe is an instance, or a class that Nest creates. */
function isPipe(pipe: unknown, type: Type): boolean {
  return (
    pipe instanceof type || pipe === type || (typeof pipe === 'function' && pipe.prototype instanceof type)
  );
}

/**
 * The check of what the pipes of a route do not check of a parameter.
 * @param schema checks all of it
 * @returns undefined if the pipes check all of it
 */
export async function uncheckedByPipes(
  { target, config }: RouteSource,
  param: HandlerParam,
  schema: CompiledSchema,
): Promise<CompiledSchema | undefined> {
  const declared = (owner: object) => (Reflect.getMetadata('__pipes__', owner) ?? []) as unknown[];
  const pipes: unknown[] = [
    ...config.getGlobalPipes(),
    ...config.getGlobalRequestPipes().map(({ metatype }) => metatype),
    ...declared(target.handlerClass),
    ...declared(declaredMethodOf(target)),
    ...param.pipes,
  ];
  const { schema: own, metatype } = param;
  if (own !== undefined || isZodDto(metatype)) return pipes.some(isSchemaPipe) ? undefined : schema;
  if (!isDto(metatype) || !pipes.some(pipe => isPipe(pipe, ValidationPipe))) return schema;
  return swaggerCheckOf(metatype);
}

/** The pipe of nestjs-zod, and `StandardSchemaValidationPipe`, which Nest 11 does not have. */
function isSchemaPipe(pipe: unknown): boolean {
  const type = typeof pipe === 'function' ? pipe : (pipe as object).constructor;
  return /^(?:Zod|StandardSchema)ValidationPipe$/.test(type.name);
}
