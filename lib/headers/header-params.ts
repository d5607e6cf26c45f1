import { X_MCP_HEADER } from '../schema/keywords.js';
import { isRecord } from '../util/is-record.js';
import type { HeaderParam } from '../protocol/header-param.js';
import { SchemaError } from '../schema/schema.error.js';

/** The header parameters and their approximate size in bytes, or the violated rule. */
export type HeaderParams =
  | { readonly ok: true; readonly params: readonly HeaderParam[]; readonly size: number }
  | { readonly ok: false; readonly reason: string };

export const HEADER_PREFIX = 'Mcp-Param-';

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const TYPES = new Set<unknown>(['string', 'integer', 'boolean']);

/** Maximum nesting of schemas; protects the stack. */
const MAX_DEPTH = 200;
/** Maximum number of schemas. Another server may write the schema, and reading it blocks the process. */
const MAX_SCHEMAS = 50_000;
/** Maximum number of headers, more than HTTP servers accept. */
const MAX_HEADERS = 200;
/** Maximum bytes of all header names and their property names. */
const MAX_SIZE = 128 * 1024;
const MAX_SHOWN = 100;

/** Keywords that hold one schema or a list, and keywords that hold schemas by name. */
const SUBSCHEMAS = new Map<string, 'one or several' | 'by name'>([
  ...[
    'items',
    'prefixItems',
    'additionalItems',
    'contains',
    'additionalProperties',
    'unevaluatedProperties',
    'unevaluatedItems',
    'propertyNames',
    'contentSchema',
    'oneOf',
    'anyOf',
    'allOf',
    'not',
    'if',
    'then',
    'else',
  ].map(keyword => [keyword, 'one or several'] as const),
  ...['properties', 'patternProperties', 'dependentSchemas', 'dependencies', '$defs', 'definitions'].map(
    keyword => [keyword, 'by name'] as const,
  ),
]);

const read = new WeakMap<object, HeaderParams>();

/**
 * Reads the header parameters of a schema, once for each object. Specification 2026-07-28:
 * basic/transports/streamable-http, schema extension.
 */
export function readHeaderParams(inputSchema: object): HeaderParams {
  const known = read.get(inputSchema);
  if (known) return known;
  let found: HeaderParams;
  try {
    found = { ok: true, ...new Scan().of(inputSchema) };
  } catch (error) {
    if (!(error instanceof SchemaError)) throw error;
    found = { ok: false, reason: error.message };
  }
  read.set(inputSchema, found);
  return found;
}

/** @throws SchemaError that names the property and the violated rule */
export function headerParamsOf(inputSchema: object): readonly HeaderParam[] {
  const found = readHeaderParams(inputSchema);
  if (found.ok) return found.params;
  throw new SchemaError(found.reason);
}

/** Reads a value from unvalidated arguments. Returns undefined for a missing value or null. */
export function argumentAt(args: unknown, { path }: HeaderParam): unknown {
  let value = args;
  for (const step of path) {
    if (!isRecord(value) || !Object.hasOwn(value, step)) return undefined;
    value = value[step];
  }
  return value ?? undefined;
}

class Scan {
  private readonly found = new Map<string, HeaderParam>();
  /** The properties and keywords that lead to the current schema. */
  private readonly path: string[] = [];
  /** The first keyword on the path other than `properties`. */
  private off: string | undefined;
  private depth = 0;
  private schemas = 0;
  private size = 0;

  of(inputSchema: object): { params: HeaderParam[]; size: number } {
    this.visit(inputSchema);
    return { params: [...this.found.values()], size: this.size };
  }

  private visit(schema: unknown): void {
    if (!isRecord(schema)) return;
    if (this.depth > MAX_DEPTH)
      throw new SchemaError(`the schema is nested more than ${MAX_DEPTH} levels deep`);
    if ((this.schemas += 1) > MAX_SCHEMAS) {
      throw new SchemaError(`the schema holds more than ${MAX_SCHEMAS} schemas`);
    }
    if (Object.hasOwn(schema, X_MCP_HEADER)) this.declare(schema);
    this.depth += 1;
    for (const keyword in schema) {
      const holds = SUBSCHEMAS.get(keyword);
      if (holds === undefined) continue;
      const { off } = this;
      const { length } = this.path;
      if (keyword !== 'properties') {
        this.off ??= keyword;
        this.path.push(keyword);
      }
      if (holds === 'by name') this.visitNamed(schema[keyword]);
      else this.visitAll(schema[keyword]);
      this.off = off;
      this.path.length = length;
    }
    this.depth -= 1;
  }

  private visitNamed(schemas: unknown): void {
    if (!isRecord(schemas)) return;
    for (const name of Object.keys(schemas)) {
      this.path.push(name);
      this.visit(schemas[name]);
      this.path.pop();
    }
  }

  private visitAll(schemas: unknown): void {
    if (Array.isArray(schemas)) for (const schema of schemas) this.visit(schema);
    else this.visit(schemas);
  }

  private declare(schema: Readonly<Record<string, unknown>>): void {
    const { found, off, path } = this;
    const { [X_MCP_HEADER]: name } = schema;
    const type = typeOrNull(schema);
    const fail = (rule: string) => {
      const where = path.length === 0 ? 'the root of the schema' : `property ${quote(path.join('.'))}`;
      throw new SchemaError(`${where} breaks a rule of ${X_MCP_HEADER}: ${rule}`);
    };
    if (path.length === 0) fail('it belongs on a property');
    if (off !== undefined) fail(`it is under "${off}", but only "properties" may lead to it`);
    if (typeof name !== 'string' || name === '')
      return fail('the name of the header must be a text that is not empty');
    if (!TOKEN.test(name)) fail(`${quote(name)} is not an HTTP token: use letters, digits and "-"`);
    if (!TYPES.has(type)) {
      const given = type === undefined ? 'no "type"' : `the type ${quote(type)}`;
      fail(`the property must be a "string", an "integer" or a "boolean", and has ${given}`);
    }
    const other = found.get(name.toLowerCase());
    if (other)
      fail(
        `property ${quote(other.path.join('.'))} already has the header ${quote(other.name)}; header names are compared without case`,
      );
    if (found.size >= MAX_HEADERS) throw new SchemaError(`the schema names more than ${MAX_HEADERS} headers`);
    for (const text of [name, ...path]) this.size += sizeOf(text);
    if (this.size > MAX_SIZE) {
      throw new SchemaError(
        `the names of its headers, and of the properties that lead to them, take more than ${MAX_SIZE} bytes`,
      );
    }
    found.set(name.toLowerCase(), { name, path: [...path], type: type as HeaderParam['type'] });
  }
}

/** The type without null, of `["string", "null"]` or of a union with null. */
function typeOrNull({ type, anyOf, oneOf }: Readonly<Record<string, unknown>>): unknown {
  const types: unknown =
    type ?? [anyOf ?? oneOf].flat().map(branch => (isRecord(branch) ? branch['type'] : undefined));
  if (!Array.isArray(types)) return types;
  const others = types.filter(one => one !== 'null');
  return others.length === 1 && others.length < types.length ? others[0] : type;
}

/** The approximate memory in bytes of a text and its reference. */
const sizeOf = (text: string): number => 2 * text.length + 8;

function quote(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return JSON.stringify(text.slice(0, MAX_SHOWN));
}
