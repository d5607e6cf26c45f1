import type { Tool } from '@modelcontextprotocol/client';
import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { headerParamsOf, readHeaderParams } from '../headers/header-params.js';
import type { HeaderParam } from '../protocol/header-param.js';
import { requireObjectRoot, toPlainJson } from '../schema/json-schema.js';
import { isRecord } from '../util/is-record.js';
import { reasonOf } from '../schema/schema.error.js';
import { compileStandardSchema, isStandardSchema } from '../schema/standard-schema-compiler.js';
import type { JsonSchema, SchemaIo, StandardSchemaWithJSON } from '../schema/types.js';

/**
 * A tool's definition that an application has before it asks the server. It may hold the other fields of a `Tool`, too.
 */
export interface KnownTool extends Partial<Omit<Tool, 'name' | 'inputSchema' | 'outputSchema'>> {
  /** The tool's name on the server; not empty. */
  name: string;
  /** JSON Schema, as in a `tools/list` result, or a Standard Schema, such as a zod schema. */
  inputSchema: JsonSchema | StandardSchemaWithJSON;
  /** The same for its result. Used only in the `toolDefinition` of a call. */
  outputSchema?: JsonSchema | StandardSchemaWithJSON;
}

/**
 * Copies a tool, and converts its schemas to JSON Schema.
 * @param called the name of the called tool, if the tool comes with a call
 * @throws TypeError if the value is not a tool, is not the called tool, or violates a rule of `x-mcp-header`
 */
export function readTool(tool: unknown, where: string, called?: string): Tool {
  if (!isRecord(tool))
    throw new TypeError(`${where} is not a tool: it must be an object with "name" and "inputSchema"`);
  const { name, inputSchema: input, outputSchema: output, ...rest } = tool;
  if (typeof name !== 'string' || name === '') {
    throw new TypeError(`${where} is not a tool: its "name" must be a text that is not empty`);
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

/**
 * Bounds for definitions that a client keeps from a server: total bytes, minimum bytes per tool, and warnings of a
 * kind.
 */
const MAX_SIZE = 16 * 1024 * 1024;
const MIN_SIZE = 1024;
const MAX_WARNINGS = 1000;
const MAX_SHOWN = 100;

interface Listed {
  readonly params: readonly HeaderParam[];
  readonly size: number;
}

/**
 * Tool definitions for the headers of calls, from the application and from lists. The last definition of a tool counts.
 */
export class ToolDefinitions {
  private readonly known = new Map<string, readonly HeaderParam[]>();
  /** Evicts the tools that were listed longest ago. */
  private readonly listed = new LRUCache<string, Listed>({
    maxSize: MAX_SIZE,
    sizeCalculation: ({ size }) => size + MIN_SIZE,
  });
  private readonly warned = { missing: new Set<string>(), invalid: new Set<string>() };

  constructor(private readonly warn: (message: string) => void) {}

  /** @throws TypeError if a value is not a tool or violates a rule of `x-mcp-header`; then nothing is added */
  add(tools: readonly KnownTool[]): void {
    if (!Array.isArray(tools)) throw new TypeError('Known tools must be a list');
    const read = Array.from(tools, (tool: unknown, index) => readTool(tool, `tools[${index}]`));
    for (const { name, inputSchema } of read) this.known.set(keyOf(name), headerParamsOf(inputSchema));
  }

  /** @throws TypeError if it is not a list of strings; then nothing is removed */
  remove(names: readonly string[]): void {
    if (!Array.isArray(names)) throw new TypeError('The names of known tools must be a list');
    const wrong = names.findIndex(name => typeof name !== 'string');
    if (wrong >= 0) throw new TypeError(`names[${wrong}] is not a tool name: it must be a string`);
    for (const name of names as string[]) this.known.delete(keyOf(name));
  }

  clear(): void {
    this.known.clear();
  }

  /** The header parameters of a tool. Warns if the definition is unknown. */
  headerParams(name: string): readonly HeaderParam[] | undefined {
    const key = keyOf(name);
    const params = this.known.get(key) ?? this.listed.peek(key)?.params;
    if (!params && !this.warned.invalid.has(key)) {
      this.warnOnce(
        'missing',
        name,
        'called without its definition, so Mcp-Param-* headers are not sent: call listTools() first, or give the ' +
          'definition with addKnownTools(), the option "knownTools" or "toolDefinition"',
      );
    }
    return params;
  }

  learn(tools: readonly Tool[]): Tool[] {
    return tools.filter(({ name, inputSchema }) => {
      // The application may have used its own result schema, so the list may hold anything.
      if (typeof name !== 'string' || !isRecord(inputSchema)) return true;
      const found = readHeaderParams(inputSchema);
      const key = keyOf(name);
      if (found.ok) {
        if (this.known.has(key)) this.known.set(key, found.params);
        this.listed.set(key, found);
      } else {
        this.listed.delete(key);
        this.warnOnce(
          'invalid',
          name,
          `left out of the list because its definition is invalid: ${found.reason}`,
        );
      }
      return found.ok;
    });
  }

  private warnOnce(kind: 'missing' | 'invalid', name: string, what: string): void {
    const warned = this.warned[kind];
    const key = keyOf(name);
    if (warned.has(key) || warned.size >= MAX_WARNINGS) return;
    warned.add(key);
    this.warn(`The tool ${JSON.stringify(name.slice(0, MAX_SHOWN))} is ${what}`);
  }
}

/** A key of bounded length: a server may send a name of any length. */
const keyOf = (name: string): string => (name.length <= MAX_SHOWN ? name : hash('sha256', name, 'base64'));
