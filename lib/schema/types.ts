import type { StandardSchemaWithJSON } from '@modelcontextprotocol/server';
import type { Type } from '@nestjs/common';

export type { StandardSchemaWithJSON };

/** A schema as JSON Schema, 2020-12 unless its `$schema` says otherwise. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** `input`: what a client sends. `output`: what a handler returns. */
export type SchemaIo = 'input' | 'output';

export interface SchemaIssue {
  /** Such as `address.lines[0].street`; empty for the value as a whole. */
  readonly path: string;
  /** In the words of the library that found it. */
  readonly message: string;
}

export type SchemaResult<T = unknown> =
  { readonly ok: true; readonly value: T } | { readonly ok: false; readonly issues: readonly SchemaIssue[] };

/** What an author declared, ready for use: converted and compiled once. */
export interface CompiledSchema<T = unknown> {
  /** Deep-frozen plain data. The root of an input schema has `type: 'object'`. */
  readonly jsonSchema: JsonSchema;
  /** Checks `value`, and hands back what the schema makes of it: an instance, a parsed value, or `value`. */
  validate(value: unknown): SchemaResult<T> | Promise<SchemaResult<T>>;
}

/**
 * What authors may write: a class with class-validator decorators, a Standard Schema with JSON Schema (zod 4.2
 * or later, arktype, valibot in the `toStandardJsonSchema()` of @valibot/to-json-schema), or JSON Schema itself.
 */
export type SchemaLike = Type<unknown> | StandardSchemaWithJSON | JsonSchema;
