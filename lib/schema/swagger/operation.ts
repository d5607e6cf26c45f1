import type { Type } from '@nestjs/common';
import { isRecord } from '../../util/is-record.js';
import { defined } from '../../util/defined.js';
import { enumKeywords } from '../class-rules.js';
import { REFLECTED_TYPES } from '../reflected-types.js';
import type { JsonSchema } from '../types.js';

/** The keys of `@nestjs/swagger`, which is optional. */
const OPERATION = 'swagger/apiOperation';
const PARAMETERS = 'swagger/apiParameters';
const RESPONSES = 'swagger/apiResponse';

/** The words of `@ApiOperation()`, which the swagger plugin writes from comments, too. */
export interface Operation {
  readonly summary?: string;
  readonly description?: string;
}

/** What `@ApiOperation()` says of a route. */
export function operationOf(method: object): Operation | undefined {
  return Reflect.getMetadata(OPERATION, method) as Operation | undefined;
}

/** A parameter as `@ApiParam()`, `@ApiQuery()` and `@ApiBody()` describe it. */
export interface DescribedParameter {
  readonly schema: JsonSchema;
  readonly required?: boolean;
  /** Undefined for values and lists. */
  readonly type?: Type;
}

interface StoredParameter {
  readonly in: string;
  readonly name?: string;
  readonly required?: boolean;
  readonly type?: unknown;
  readonly isArray?: boolean;
  readonly enum?: unknown;
  readonly schema?: unknown;
  readonly description?: string;
  readonly example?: unknown;
}

/** Keywords that parameters have in the words of JSON Schema. */
const KEYWORDS = [
  'description',
  'format',
  'default',
  'minimum',
  'maximum',
  'minLength',
  'maxLength',
  'pattern',
] as const;

/** @param name undefined for the body as a whole */
export function parameterOf(
  method: object,
  place: 'path' | 'query' | 'body',
  name?: string,
): DescribedParameter | undefined {
  const all = (Reflect.getMetadata(PARAMETERS, method) ?? []) as readonly StoredParameter[];
  const found = all.find(one => one.in === place && (place === 'body' || one.name === name));
  if (!found || (place === 'body' && name !== undefined)) return undefined;
  const { type, isArray, required } = found;
  const isClass =
    typeof type === 'function' && !REFLECTED_TYPES.has(type) && type !== Array && type !== Object;
  return {
    schema: schemaOf(found, isArray === true),
    ...defined({ required, type: isClass && !isArray ? (type as Type) : undefined }),
  };
}

function schemaOf(found: StoredParameter, isArray: boolean): JsonSchema {
  const { type, enum: values, schema, example } = found;
  const item = {
    ...(typeof type === 'string' ? { type } : REFLECTED_TYPES.get(type)),
    ...(isRecord(values) || Array.isArray(values) ? enumKeywords(values) : undefined),
    ...(isRecord(schema) ? schema : undefined),
  };
  const words = Object.fromEntries(
    KEYWORDS.flatMap(key => (key in found ? [[key, (found as unknown as JsonSchema)[key]]] : [])),
  );
  return {
    ...(isArray ? { type: 'array', items: item } : item),
    ...words,
    ...(example !== undefined && { examples: [example] }),
  };
}

/** The class of a successful answer, from `@ApiOkResponse()` and the like. */
export function resultOf(method: object): { readonly type: Type; readonly isArray: boolean } | undefined {
  const all = (Reflect.getMetadata(RESPONSES, method) ?? {}) as Readonly<
    Record<string, { readonly type?: unknown; readonly isArray?: boolean }>
  >;
  const found = Object.entries(all).find(
    ([status, { type }]) => /^2/.test(status) && typeof type === 'function',
  );
  return found && { type: found[1].type as Type, isArray: found[1].isArray === true };
}
