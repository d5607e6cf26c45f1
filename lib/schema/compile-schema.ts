import { SchemaError } from './schema.error.js';
import { compileStandardSchema, isStandardSchema } from './standard-schema-compiler.js';
import type { CompiledSchema, SchemaIo, SchemaLike } from './types.js';
import { schemaIn } from './zod-dto.js';

const compiled = {
  input: new WeakMap<object, Promise<CompiledSchema>>(),
  output: new WeakMap<object, Promise<CompiledSchema>>(),
};

/** Compiles a class or schema object, once for each direction. @throws SchemaError */
export async function compileSchema(schema: SchemaLike, io: SchemaIo): Promise<CompiledSchema> {
  requireSchema(schema);
  let result = compiled[io].get(schema);
  if (!result) compiled[io].set(schema, (result = compile(schema, io)));
  return result;
}

async function compile(declared: SchemaLike, io: SchemaIo): Promise<CompiledSchema> {
  const schema = schemaIn(declared);
  // Checked first, because arktype schemas are functions, too.
  if (isStandardSchema(schema)) return compileStandardSchema(schema, io);
  requireNoShape(schema);
  if (typeof schema !== 'function') {
    const { compileJsonSchema } = await import('./json-schema-compiler.js');
    return compileJsonSchema(schema, io);
  }
  const { compileClass } = await import('./class-compiler.js');
  return compileClass(schema, io);
}

/** Refuses an object of schemas: read as JSON Schema, it would only have unknown keywords and accept everything. */
function requireNoShape(schema: object): void {
  for (const [key, value] of Object.entries(schema) as [string, unknown][]) {
    if (typeof value !== 'object' || value === null || !isStandardSchema(value)) continue;
    const { vendor } = value['~standard'];
    throw new SchemaError(
      `the schema is an object of ${vendor} schemas: wrap it, as in z.object({ ${key}: … })`,
    );
  }
}

function requireSchema(schema: unknown): void {
  if (schema === undefined) throw new SchemaError('the schema is undefined: look for a circular import');
  if (typeof schema === 'function' || (typeof schema === 'object' && schema !== null)) return;
  throw new SchemaError(
    `a schema is a class, a Standard Schema or JSON Schema, not ${JSON.stringify(schema)}`,
  );
}
