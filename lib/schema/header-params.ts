import { X_MCP_HEADER } from './mcp-header.js';
import { isRecord } from './plain-json.js';
import { SchemaError } from './schema.error.js';

/** An argument that clients repeat in the HTTP header `Mcp-Param-<name>`. */
export interface HeaderParam {
  /** As declared; header names have no case. */
  readonly name: string;
  /** The properties that lead to the value, from the arguments on. */
  readonly path: readonly string[];
  readonly type: 'string' | 'integer' | 'boolean';
}

/** What an input schema says of headers: its parameters, or the rule that it breaks. */
export type HeaderParams =
  | { readonly ok: true; readonly params: readonly HeaderParam[] }
  | { readonly ok: false; readonly reason: string };

/** The prefix of the headers. */
export const HEADER_PREFIX = 'Mcp-Param-';

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const TYPES = new Set<unknown>(['string', 'integer', 'boolean']);

/** Deeper than any schema; what follows one to its end must not run out of stack. */
const MAX_DEPTH = 200;
/** How much of a name that a server has given goes into a message. */
const MAX_SHOWN = 100;

/** Keywords that hold one schema or a list of them, and those that hold schemas by name. */
const SUBSCHEMAS = [
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
];
const NAMED_SUBSCHEMAS = ['patternProperties', 'dependentSchemas', 'dependencies', '$defs', 'definitions'];

const read = new WeakMap<object, HeaderParams>();

/**
 * The header parameters of an input schema. The same schema object is looked through once.
 *
 * Specification 2026-07-28: basic/transports/streamable-http, schema extension.
 */
export function readHeaderParams(inputSchema: object): HeaderParams {
  let known = read.get(inputSchema);
  if (!known) read.set(inputSchema, (known = scan(inputSchema)));
  return known;
}

/**
 * Like `readHeaderParams`.
 * @throws SchemaError that names the property and the rule it breaks
 */
export function headerParamsOf(inputSchema: object): readonly HeaderParam[] {
  const found = readHeaderParams(inputSchema);
  if (found.ok) return found.params;
  throw new SchemaError(found.reason);
}

/** The value of a header parameter in arguments that nobody has validated; undefined where there is none, or null. */
export function argumentAt(args: unknown, { path }: HeaderParam): unknown {
  let value = args;
  for (const step of path) {
    if (!isRecord(value) || !Object.hasOwn(value, step)) return undefined;
    value = value[step];
  }
  return value ?? undefined;
}

function scan(inputSchema: object): HeaderParams {
  const found = new Map<string, HeaderParam>();
  try {
    visit(inputSchema, [], undefined, found);
    return { ok: true, params: [...found.values()] };
  } catch (error) {
    if (error instanceof Breach) return { ok: false, reason: error.message };
    throw error;
  }
}

class Breach extends Error {}

/**
 * @param off the keyword that leads away from what `properties` alone can reach, if one has
 * @throws Breach
 */
function visit(
  schema: unknown,
  path: readonly string[],
  off: string | undefined,
  found: Map<string, HeaderParam>,
): void {
  if (!isRecord(schema)) return;
  if (path.length > MAX_DEPTH) throw new Breach(`the schema is nested more than ${MAX_DEPTH} levels deep`);
  if (Object.hasOwn(schema, X_MCP_HEADER)) declare(schema, path, off, found);
  if (isRecord(schema.properties)) {
    for (const [name, child] of Object.entries(schema.properties)) visit(child, [...path, name], off, found);
  }
  for (const keyword of SUBSCHEMAS) {
    if (schema[keyword] === undefined) continue;
    for (const child of [schema[keyword]].flat()) visit(child, [...path, keyword], off ?? keyword, found);
  }
  for (const keyword of NAMED_SUBSCHEMAS) {
    if (!isRecord(schema[keyword])) continue;
    for (const [name, child] of Object.entries(schema[keyword]))
      visit(child, [...path, keyword, name], off ?? keyword, found);
  }
}

function declare(
  schema: Readonly<Record<string, unknown>>,
  path: readonly string[],
  off: string | undefined,
  found: Map<string, HeaderParam>,
): void {
  const { [X_MCP_HEADER]: name, type } = schema;
  const fail = (rule: string) => {
    const where = path.length === 0 ? 'the root of the schema' : `property ${quote(path.join('.'))}`;
    throw new Breach(`${where} breaks a rule of ${X_MCP_HEADER}: ${rule}`);
  };
  if (path.length === 0) fail('it belongs on a property');
  if (off !== undefined) fail(`it is under "${off}", but only "properties" may lead to it`);
  if (typeof name !== 'string' || name === '')
    return fail('the name of the header must be a text that is not empty');
  if (!TOKEN.test(name)) fail(`${quote(name)} is no HTTP token: use letters, digits and "-"`);
  if (!TYPES.has(type)) {
    const given = type === undefined ? 'no "type"' : `the type ${quote(type)}`;
    fail(`the property must be a "string", an "integer" or a "boolean", and has ${given}`);
  }
  const other = found.get(name.toLowerCase());
  if (other)
    fail(
      `property ${quote(other.path.join('.'))} has the header ${quote(other.name)} already; case makes no difference`,
    );
  found.set(name.toLowerCase(), { name, path, type: type as HeaderParam['type'] });
}

function quote(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return JSON.stringify(text.slice(0, MAX_SHOWN));
}
