import type { Tool } from '@modelcontextprotocol/client';
import { readHeaderParams, type HeaderParam } from '../../schema/header-params.js';
import { isRecord } from '../../schema/plain-json.js';
import { readTool, type KnownTool } from './known-tool.js';

/** The most definitions that a server can have a client keep, and the most warnings. */
const MAX_LISTED = 10_000;
const MAX_WARNINGS = 1000;
/** How much of a name goes to the log. */
const MAX_SHOWN = 100;

/**
 * The definitions of a server's tools, for the headers of calls: those that the application knows, and those that the
 * server has listed, across all connections. Of each name, the last one counts.
 */
export class ToolDefinitions {
  private readonly known = new Map<string, object>();
  private readonly listed = new Map<string, object>();
  private readonly warnings = new Set<string>();

  /** @param warn where warnings go */
  constructor(private readonly warn: (message: string) => void) {}

  /**
   * Adds tools that the application knows, all of them or none. They stay whatever the server lists.
   * @throws TypeError for what is no list, and for a tool that is none or breaks a rule of `x-mcp-header`
   */
  add(tools: readonly KnownTool[]): void {
    assertList(tools, 'Known tools must be a list');
    const read = Array.from(tools, (tool: unknown, index) => readTool(tool, `tools[${index}]`));
    for (const { name, inputSchema } of read) this.known.set(name, inputSchema);
  }

  /**
   * Forgets tools that were added; names that were not are passed over.
   * @throws TypeError for what is no list of texts, before it forgets any
   */
  remove(names: readonly string[]): void {
    assertList(names, 'The names of known tools must be a list');
    const wrong = names.findIndex(name => typeof name !== 'string');
    if (wrong >= 0) throw new TypeError(`names[${wrong}] is no name of a tool: it must be a text`);
    for (const name of names) this.known.delete(name);
  }

  /** Forgets all tools that were added. */
  clear(): void {
    this.known.clear();
  }

  /** The header parameters of a tool; undefined where there is no definition of it. */
  headerParams(name: string): readonly HeaderParam[] | undefined {
    const schema = this.known.get(name) ?? this.listed.get(name);
    const found = schema && readHeaderParams(schema);
    return found?.ok ? found.params : undefined;
  }

  /**
   * Takes over what the server has listed.
   * @returns the tools that break no rule of `x-mcp-header`; of each other one, a warning says why
   */
  learn(tools: readonly Tool[]): Tool[] {
    return tools.filter(({ name, inputSchema }) => {
      // Where the application has asked with a schema of its own, anything may be in the list.
      if (typeof name !== 'string' || !isRecord(inputSchema)) return true;
      const found = readHeaderParams(inputSchema);
      this.listed.delete(name);
      if (found.ok) this.keep(name, inputSchema);
      else this.invalid(name, found.reason);
      return found.ok;
    });
  }

  /** Says once of each tool that its headers are not sent. */
  missing(name: string): void {
    this.warnOnce(
      `The tool ${shorten(name)} is called without its definition, so Mcp-Param-* headers are not sent: call ` +
        'listTools() first, or give the definition with addKnownTools(), the option "knownTools" or "toolDefinition"',
    );
  }

  private keep(name: string, schema: object): void {
    // They are in the order in which they were listed last.
    if (this.listed.size >= MAX_LISTED) this.listed.delete(this.listed.keys().next().value!);
    this.listed.set(name, schema);
    if (this.known.has(name)) this.known.set(name, schema);
  }

  private invalid(name: string, reason: string): void {
    this.warnOnce(
      `The tool ${shorten(name)} is left out of the list, for its definition is invalid: ${reason}`,
    );
  }

  private warnOnce(message: string): void {
    if (this.warnings.has(message) || this.warnings.size >= MAX_WARNINGS) return;
    this.warnings.add(message);
    this.warn(message);
  }
}

function assertList(value: unknown, message: string): void {
  if (!Array.isArray(value)) throw new TypeError(message);
}

const shorten = (name: string): string => JSON.stringify(name.slice(0, MAX_SHOWN));
