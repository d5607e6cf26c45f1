import type { Tool } from '@modelcontextprotocol/client';
import { headerParamsOf } from '../headers/header-params.js';
import { requireObjectRoot, toPlainJson } from '../schema/json-schema.js';
import { isRecord } from '../util/is-record.js';
import { reasonOf } from '../schema/schema.error.js';
import { compileStandardSchema, isStandardSchema } from '../schema/standard-schema-compiler.js';
import type { JsonSchema, SchemaIo, StandardSchemaWithJSON } from '../schema/types.js';

/** A tool's definition that an application has before it asks the server. It may hold the rest of a `Tool`, too. */
export interface KnownTool extends Partial<Omit<Tool, 'name' | 'inputSchema' | 'outputSchema'>> {
  /** As the server calls it; not empty. */
  name: string;
  /** JSON Schema, as in a row of a `tools/list`, or a Standard Schema, such as zod's. */
  inputSchema: JsonSchema | StandardSchemaWithJSON;
  /** The same for its result. It counts only as `toolDefinition` of a call. */
  outputSchema?: JsonSchema | StandardSchemaWithJSON;
}

/**
 * Copies a tool, with its schemas as JSON Schema.
 * @param called the name of the called tool, if the tool comes with a call
 * @throws TypeError if it is not a tool, is not `called`, or breaks a rule of `x-mcp-header`
 */
export function readTool(tool: unknown, where: string, called?: string): Tool {
  if (!isRecord(tool))
    throw new TypeError(`${where} is no tool: it must be an object with "name" and "inputSchema"`);
  const { name, inputSchema: input, outputSchema: output, ...rest } = tool;
  if (typeof name !== 'string' || name === '') {
    throw new TypeError(`${where} is no tool: its "name" must be a text that is not empty`);
  }
  try {
    const inputSchema = requireObjectRoot(jsonSchemaOf(input, 'input'));
    headerParamsOf(inputSchema);
    if (called === undefined) return { name, inputSchema } as Tool;
    const outputSchema = output === undefined ? undefined : jsonSchemaOf(output, 'output');
    if (name === called) return { ...rest, name, inputSchema, outputSchema } as Tool;
  } catch (error) {
    throw new TypeError(`${where}, the tool ${JSON.stringify(name)}: ${reasonOf(error)}`, { cause: error });
  }
  throw new TypeError(`${where} is of ${JSON.stringify(name)}, not of ${JSON.stringify(called)}`);
}

function jsonSchemaOf(schema: unknown, io: SchemaIo): JsonSchema {
  const isSchema = typeof schema === 'function' || (typeof schema === 'object' && schema !== null);
  if (isSchema && isStandardSchema(schema)) return compileStandardSchema(schema, io).jsonSchema;
  if (!isRecord(schema)) throw new TypeError(`its "${io}Schema" must be JSON Schema or a Standard Schema`);
  return toPlainJson(schema);
}
