import type { StandardSchemaWithJSON } from '@modelcontextprotocol/server';
import type { Type } from '@nestjs/common';

export type { StandardSchemaWithJSON };

/** 2020-12, unless its `$schema` names another dialect. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** `input`: what a client sends. `output`: what a handler returns. */
export type SchemaIo = 'input' | 'output';

/** A place where a value breaks its schema. A result lists at most 100. */
export interface SchemaIssue {
  /** Such as `address.lines[0].street`; empty for the value as a whole. */
  readonly path: string;
  /** As the validating library words it. */
  readonly message: string;
}

export type SchemaResult<T = unknown> =
  { readonly ok: true; readonly value: T } | { readonly ok: false; readonly issues: readonly SchemaIssue[] };

/** A schema, converted and compiled once. */
export interface CompiledSchema<T = unknown> {
  /** Deep-frozen plain data. The root of an input schema has `type: 'object'`. */
  readonly jsonSchema: JsonSchema;
  /** Returns the schema's result: an instance, a parsed value, or `value`. */
  validate(value: unknown): SchemaResult<T> | Promise<SchemaResult<T>>;
}

/**
 * A class with class-validator decorators, a Standard Schema with JSON Schema (zod 4.2 or later, arktype, valibot in
 * `toStandardJsonSchema()` of @valibot/to-json-schema), or JSON Schema.
 */
export type SchemaLike = Type<unknown> | StandardSchemaWithJSON | JsonSchema;
