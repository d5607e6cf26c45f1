import type { Tool } from '@modelcontextprotocol/client';
import { headerParamsOf } from '../../headers/header-params.js';
import { requireObjectRoot } from '../../schema/object-root.js';
import { isRecord, toPlainJson } from '../../schema/plain-json.js';
import { reasonOf } from '../../schema/schema.error.js';
import { compileStandardSchema, isStandardSchema } from '../../schema/standard-schema-compiler.js';
import type { JsonSchema, SchemaIo, StandardSchemaWithJSON } from '../../schema/types.js';

/** The definition of a tool that an application has before it asks the server. The rest of a `Tool` may be there too. */
export interface KnownTool extends Partial<Omit<Tool, 'name' | 'inputSchema' | 'outputSchema'>> {
  /** As the server calls it; not empty. */
  name: string;
  /** JSON Schema, as in a row of a `tools/list`, or a Standard Schema, such as zod's. */
  inputSchema: JsonSchema | StandardSchemaWithJSON;
  /** The same of what it answers. Only with a call does it count. */
  outputSchema?: JsonSchema | StandardSchemaWithJSON;
}

/** A definition as far as it counts here: its own copy, which nobody changes. */
export interface ReadTool {
  readonly name: string;
  readonly inputSchema: JsonSchema;
}

/**
 * Reads what an application gave as a tool.
 * @param where how the error names it, such as `tools[1]`
 * @throws TypeError for what is no tool, or breaks a rule of `x-mcp-header`
 */
export function readTool(tool: unknown, where: string): ReadTool {
  if (!isRecord(tool))
    throw new TypeError(`${where} is no tool: it must be an object with "name" and "inputSchema"`);
  const { name, inputSchema } = tool;
  if (typeof name !== 'string' || name === '') {
    throw new TypeError(`${where} is no tool: its "name" must be a text that is not empty`);
  }
  return named(where, name, () => {
    const json = requireObjectRoot(jsonSchemaOf(inputSchema, 'input'));
    headerParamsOf(json);
    return { name, inputSchema: json };
  });
}

/**
 * The definition that comes with a call, as the SDK's client takes it: a copy, with JSON Schema.
 * @param called the name of the tool that is called
 * @throws TypeError for what is no tool, or another one, or breaks a rule of `x-mcp-header`
 */
export function readToolDefinition(tool: KnownTool, called: string): Tool {
  const where = 'toolDefinition';
  const { name, inputSchema } = readTool(tool, where);
  if (name !== called)
    throw new TypeError(`${where} is of ${JSON.stringify(name)}, not of ${JSON.stringify(called)}`);
  const { outputSchema, ...rest } = tool;
  const output = named(where, name, () =>
    outputSchema === undefined ? {} : { outputSchema: jsonSchemaOf(outputSchema, 'output') },
  );
  return { ...rest, inputSchema, ...output } as Tool;
}

/** @throws TypeError that names the tool */
function named<T>(where: string, name: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new TypeError(`${where}, the tool ${JSON.stringify(name)}: ${reasonOf(error)}`, { cause: error });
  }
}

/** @throws Error for what is no schema */
function jsonSchemaOf(schema: unknown, io: SchemaIo): JsonSchema {
  const isSchema = typeof schema === 'function' || (typeof schema === 'object' && schema !== null);
  if (isSchema && isStandardSchema(schema)) return compileStandardSchema(schema, io).jsonSchema;
  if (!isRecord(schema)) throw new TypeError(`its "${io}Schema" must be JSON Schema or a Standard Schema`);
  return toPlainJson(schema);
}
