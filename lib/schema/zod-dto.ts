import type { Type } from '@nestjs/common';
import { SchemaError } from './schema.error.js';
import { isStandardSchema } from './standard-schema-compiler.js';
import type { SchemaLike } from './types.js';

/** A class that `createZodDto()` of nestjs-zod made. Its static property `schema` holds the zod schema. */
interface ZodDto extends Type {
  readonly isZodDto: true;
  readonly schema: object;
}

export const isZodDto = (type: unknown): type is ZodDto =>
  typeof type === 'function' && (type as Partial<ZodDto>).isZodDto === true;

/** The zod schema of a DTO, and any other schema as it is. @throws SchemaError for a DTO without a Standard Schema */
export function schemaIn(schema: SchemaLike): SchemaLike {
  if (!isZodDto(schema)) return schema;
  const { name, schema: own } = schema;
  if (isStandardSchema(own)) return own;
  throw new SchemaError(`the schema of ${name} carries no JSON Schema: make it with "zod" 4.2 or later`);
}

/**
 * The type that pipes get for a value that the server has parsed. The pipe of nestjs-zod would parse it again, which a
 * schema that converts values does not survive.
 */
export function parsedDto(type: ZodDto): Type {
  class Parsed extends type {
    static override readonly schema = { parse: (value: unknown) => value };
  }
  return Object.defineProperty(Parsed, 'name', { value: type.name });
}
