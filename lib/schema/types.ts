import type { StandardSchemaWithJSON } from '@modelcontextprotocol/server';
import type { Type } from '@nestjs/common';

export type { StandardSchemaWithJSON };

/** JSON Schema 2020-12, unless its `$schema` names another dialect. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** `input` for values from a client, `output` for values from a handler. */
export type SchemaIo = 'input' | 'output';

/** A place where a value violates its schema. A result lists at most 100 issues. */
export interface SchemaIssue {
  /** For example `address.lines[0].street`; empty for the value as a whole. */
  readonly path: string;
  /** The message of the validating library. */
  readonly message: string;
}

export type SchemaResult<T = unknown> =
  { readonly ok: true; readonly value: T } | { readonly ok: false; readonly issues: readonly SchemaIssue[] };

/** A converted schema, compiled once. */
export interface CompiledSchema<T = unknown> {
  /** Deep-frozen plain data. The root of an input schema has `type: 'object'`. */
  readonly jsonSchema: JsonSchema;
  /** Returns the result of the schema: an instance, a parsed value, or `value`. */
  validate(value: unknown): SchemaResult<T> | Promise<SchemaResult<T>>;
}

/**
 * A class with class-validator decorators, a DTO of nestjs-zod, a Standard Schema with JSON Schema (zod 4.2 or later,
 * arktype, valibot in `toStandardJsonSchema()` of @valibot/to-json-schema), or JSON Schema.
 */
export type SchemaLike = Type<unknown> | StandardSchemaWithJSON | JsonSchema;
