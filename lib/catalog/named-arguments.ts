import type { HandlerParam } from '../execution/handler-params.js';
import { compileSchema } from '../schema/compile-schema.js';
import { embedded } from '../schema/json-schema.js';
import { REFLECTED_TYPES } from '../schema/reflected-types.js';
import { defined } from '../util/defined.js';
import { isRecord } from '../util/is-record.js';
import { failure, success } from '../schema/result.js';
import type { CompiledSchema, JsonSchema, SchemaIssue } from '../schema/types.js';
import { isDto } from '../execution/handler-target.js';
import { whyUnknown } from './parameter-remedies.js';

interface NamedArgument {
  readonly name: string;
  readonly required: boolean;
  readonly description: { readonly description?: string };
  readonly schema: JsonSchema;
  /** Checks and converts the value, in addition to `schema`. */
  readonly dto?: CompiledSchema;
  readonly isDate: boolean;
}

/**
 * Compiles named arguments to an object schema with one property for each.
 * @param option the option that can declare a schema instead, for error messages
 * @throws Error for an argument whose type TypeScript does not reflect
 */
export async function compileNamedArguments(
  params: readonly HandlerParam[],
  owner: 'tool' | 'prompt' | 'method',
  option: string,
): Promise<CompiledSchema> {
  const named = await Promise.all(params.map(param => namedArgument(param, owner, option)));
  const required = named.filter(argument => argument.required).map(({ name }) => name);
  const objectOf = (schemaOf: (argument: NamedArgument) => object): JsonSchema => ({
    type: 'object',
    properties: Object.fromEntries(
      named.map(argument => [argument.name, { ...schemaOf(argument), ...argument.description }]),
    ),
    required,
  });
  // class-validator checks a DTO itself; the generated JSON Schema may be stricter.
  const check = await compileSchema(
    objectOf(({ dto, schema }) => (dto ? { type: 'object' } : schema)),
    'input',
  );
  const $defs = {};
  const shown = objectOf(({ dto, name, schema }) => (dto ? embedded(schema, name, $defs) : schema));
  const { jsonSchema } = await compileSchema(
    Object.keys($defs).length > 0 ? { ...shown, $defs } : shown,
    'input',
  );
  return {
    jsonSchema,
    async validate(value) {
      const checked = await check.validate(value);
      return checked.ok && isRecord(checked.value) ? convert(named, checked.value) : checked;
    },
  };
}

async function convert(named: readonly NamedArgument[], value: Record<string, unknown>) {
  const converted = { ...value };
  const issues: SchemaIssue[] = [];
  for (const { name, dto, isDate } of named) {
    if (!Object.hasOwn(value, name)) continue;
    if (isDate) converted[name] = new Date(value[name] as string);
    if (!dto) continue;
    const result = await dto.validate(value[name]);
    if (result.ok) converted[name] = result.value;
    else issues.push(...result.issues.map(issue => ({ ...issue, path: pathIn(name, issue) })));
  }
  return issues.length > 0 ? failure(issues) : success(converted);
}

const pathIn = (name: string, { path }: SchemaIssue): string => (path ? `${name}.${path}` : name);

async function namedArgument(
  { data, options, metatype, pipes }: HandlerParam,
  owner: 'tool' | 'prompt' | 'method',
  option: string,
): Promise<NamedArgument> {
  const { name = String(data), optional, description } = options ?? {};
  const common = {
    name,
    required: optional !== true,
    description: defined({ description }),
  };
  // Arguments of a prompt are strings, even if a pipe converts them.
  const isText = owner === 'prompt' && (pipes.length > 0 || metatype === undefined || metatype === Object);
  const type: unknown = isText ? String : metatype;
  const scalar = REFLECTED_TYPES.get(type);
  // Pipes receive the value that the client sent.
  if (scalar) return { ...common, schema: scalar, isDate: type === Date && pipes.length === 0 };
  if (owner !== 'prompt' && isDto(type)) {
    const dto = await compileSchema(type, 'input');
    return { ...common, schema: dto.jsonSchema, dto, isDate: false };
  }
  if (type === undefined || type === Function) {
    const cause = whyUnknown(type, `the argument "${name}"`);
    throw new Error(
      `the type of its argument "${name}" is unknown, so it would not be checked: ${cause}, or declare "${option}"`,
    );
  }
  throw new Error(
    `the type of its argument "${name}" is unknown, so it would not be checked: declare "${option}"; only strings, ` +
      'numbers, booleans, dates and classes with class-validator decorators are checked without it',
  );
}
