import type { Type } from '@nestjs/common';
import { ClassConverter } from './class-converter.js';
import { loadClassPeers, type PropertyFailure } from './class-peers.js';
import { shapeIssues } from './class-shape.js';
import { copyPlain } from './copy-plain.js';
import { isRecord, toPlainJson } from './plain-json.js';
import { childPath, failure, success } from './result.js';
import type { CompiledSchema, SchemaIo, SchemaIssue, SchemaResult } from './types.js';

/**
 * Compiles a class with class-validator decorators. Values come back as instances of it; a property without a
 * decorator is an issue.
 * @throws SchemaError, also where class-validator or class-transformer is not installed
 */
export async function compileClass(type: Type<unknown>, io: SchemaIo): Promise<CompiledSchema> {
  const peers = await loadClassPeers();
  const { schema, shapes } = new ClassConverter(type, peers, io).convert();
  return {
    jsonSchema: toPlainJson(schema),
    async validate(value): Promise<SchemaResult> {
      if (!isRecord(value)) return failure([{ path: '', message: 'must be an object' }]);

      const unsafe: SchemaIssue[] = [];
      let instance: object;
      try {
        instance = peers.toInstance(type, copyPlain(value, '', unsafe) as object);
      } catch {
        // A `@Transform()` that met what it did not expect. Its message may hold the value.
        return failure([{ path: '', message: `cannot be converted to ${type.name}` }]);
      }
      if (unsafe.length > 0) return failure(unsafe);

      const failures = await peers.validate(instance);
      const issues =
        failures.length > 0 ? toIssues(failures, instance, '') : shapeIssues(shapes, instance, '');
      return issues.length > 0 ? failure(issues) : success(instance);
    },
  };
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
