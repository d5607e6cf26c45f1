import { Logger, type Type } from '@nestjs/common';
import { ClassConverter } from './class-converter.js';
import { loadClassPeers, type PropertyFailure } from './class-peers.js';
import { shapeIssues } from './class-property.js';
import { withModels } from './swagger/instances.js';
import { isPlain, isRecord } from '../util/is-record.js';
import { toPlainJson } from './json-schema.js';
import { childPath, failure, success } from './result.js';
import type { CompiledSchema, JsonSchema, SchemaIo, SchemaIssue, SchemaResult } from './types.js';

const logger = new Logger('McpModule');
/** A class can be a part of many schemas. */
const warned = new Set<string>();

/**
 * Compiles a class. Validated values are instances, and a property without a decorator is an issue. Properties whose
 * type only swagger gives are checked by JSON Schema, too.
 * @throws SchemaError
 */
export async function compileClass(type: Type<unknown>, io: SchemaIo): Promise<CompiledSchema> {
  const peers = await loadClassPeers();
  const converter = new ClassConverter(type, peers, io);
  const { schema, shapes } = converter.convert();
  if (io === 'input') converter.contradictions.forEach(warnOnce);
  const rest = converter.hasRest
    ? await compileJsonSchema(new ClassConverter(type, peers, io, true).convert().schema, io)
    : undefined;
  return {
    jsonSchema: toPlainJson(schema),
    async validate(value): Promise<SchemaResult> {
      if (!isRecord(value)) return failure([{ path: '', message: 'must be an object' }]);
      const checked = await rest?.validate(value);
      if (checked?.ok === false) return checked;

      const unsafe: SchemaIssue[] = [];
      let instance: object;
      try {
        instance = peers.toInstance(type, copyPlain(value, '', unsafe) as object);
      } catch {
        // A `@Transform()` threw an error. Its message may hold the value.
        return failure([{ path: '', message: `cannot be converted to ${type.name}` }]);
      }
      if (unsafe.length > 0) return failure(unsafe);

      const failures = await peers.validate(instance, rest === undefined);
      const issues =
        failures.length > 0 ? toIssues(failures, instance, '') : shapeIssues(shapes, instance, '');
      if (issues.length > 0) return failure(issues);
      return success(rest ? withModels(instance, type, peers) : instance);
    },
  };
}

async function compileJsonSchema(schema: JsonSchema, io: SchemaIo): Promise<CompiledSchema> {
  const compiler = await import('./json-schema-compiler.js');
  return compiler.compileJsonSchema(schema, io);
}

/**
 * Checks what class-validator does not: the types that swagger alone gives.
 * @returns undefined if class-validator checks all that the JSON Schema of the class says
 */
export async function swaggerCheckOf(type: Type<unknown>): Promise<CompiledSchema | undefined> {
  const peers = await loadClassPeers();
  const converter = new ClassConverter(type, peers, 'input');
  converter.convert();
  if (!converter.hasRest) return undefined;
  const { required = [], ...schema } = new ClassConverter(type, peers, 'input', true).convert().schema;
  const ruled = new Set(peers.rulesOf(type).map(({ propertyName }) => propertyName));
  const unruled = (required as string[]).filter(name => !ruled.has(name));
  return compileJsonSchema({ ...schema, required: unruled }, 'input');
}

function warnOnce(contradiction: string): void {
  if (warned.has(contradiction)) return;
  warned.add(contradiction);
  logger.warn(`${contradiction}, which decides`);
}

function toIssues(failures: readonly PropertyFailure[], parent: unknown, parentPath: string): SchemaIssue[] {
  return failures.flatMap(({ property, constraints = {}, children = [] }) => {
    if (property === undefined)
      return Object.values(constraints).map(message => ({ path: parentPath, message }));
    const path = childPath(parentPath, Array.isArray(parent) ? Number(property) : property);
    const value = (parent as Record<string, unknown>)[property];
    return [
      ...Object.values(constraints).map(message => ({ path, message })),
      ...toIssues(children, value, path),
    ];
  });
}

/**
 * Copies input for class-transformer, which deletes discriminators from it. Keys that every object inherits become
 * issues, because class-transformer fails on them or silently drops them.
 */
function copyPlain(value: unknown, path: string, issues: SchemaIssue[]): unknown {
  if (Array.isArray(value))
    return value.map((item, index) => copyPlain(item, childPath(path, index), issues));
  if (typeof value !== 'object' || value === null || !isPlain(value)) return value;
  const copy: Record<string, unknown> = {};
  for (const [key, child] of Object.entries(value)) {
    const childsPath = childPath(path, key);
    if (key in Object.prototype)
      issues.push({ path: childsPath, message: `property ${key} should not exist` });
    else copy[key] = copyPlain(child, childsPath, issues);
  }
  return copy;
}
