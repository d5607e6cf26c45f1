import { createHash } from 'node:crypto';
import type { Tool } from '@modelcontextprotocol/client';
import {
  headerParamsOf,
  readHeaderParams,
  type HeaderParam,
  type HeaderParams,
} from '../../headers/header-params.js';
import { isRecord } from '../../schema/plain-json.js';
import { readTool, type KnownTool } from './known-tool.js';

/** The most definitions that a server can have a client keep, how many bytes they take, and the most warnings of a kind. */
const MAX_LISTED = 10_000;
const MAX_SIZE = 16 * 1024 * 1024;
const MAX_WARNINGS = 1000;
/** How much of a name goes to the log. */
const MAX_SHOWN = 100;

/**
 * The definitions of a server's tools, for the headers of calls: those that the application knows, and those that the
 * server has listed, across all connections. Of each name, the last one counts.
 */
export class ToolDefinitions {
  private readonly known = new Map<string, readonly HeaderParam[]>();
  private readonly listed = new Map<string, Declared>();
  /** What those that were listed take. */
  private size = 0;
  /** The tools that have been warned of. */
  private readonly warnings = { missing: new Set<string>(), invalid: new Set<string>() };

  /** @param warn where warnings go */
  constructor(private readonly warn: (message: string) => void) {}

  /**
   * Adds tools that the application knows, all of them or none. They stay whatever the server lists.
   * @throws TypeError for what is no list, and for a tool that is none or breaks a rule of `x-mcp-header`
   */
  add(tools: readonly KnownTool[]): void {
    assertList(tools, 'Known tools must be a list');
    const read = Array.from(tools, (tool: unknown, index) => readTool(tool, `tools[${index}]`));
    for (const { name, inputSchema } of read) this.known.set(keyOf(name), headerParamsOf(inputSchema));
  }

  /**
   * Forgets tools that were added; names that were not are passed over.
   * @throws TypeError for what is no list of texts, before it forgets any
   */
  remove(names: readonly string[]): void {
    assertList(names, 'The names of known tools must be a list');
    const wrong = names.findIndex(name => typeof name !== 'string');
    if (wrong >= 0) throw new TypeError(`names[${wrong}] is no name of a tool: it must be a text`);
    for (const name of names) this.known.delete(keyOf(name));
  }

  /** Forgets all tools that were added. */
  clear(): void {
    this.known.clear();
  }

  /** The header parameters of a tool; undefined where there is no definition of it. */
  headerParams(name: string): readonly HeaderParam[] | undefined {
    const key = keyOf(name);
    return this.known.get(key) ?? this.listed.get(key)?.params;
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
      const key = keyOf(name);
      this.forget(key);
      if (found.ok) this.keep(key, found);
      else this.invalid(name, found.reason);
      return found.ok;
    });
  }

  /** Says once of each tool that its headers are not sent. */
  missing(name: string): void {
    if (this.warnings.invalid.has(keyOf(name))) return;
    this.warnOnce(
      'missing',
      name,
      `The tool ${shorten(name)} is called without its definition, so Mcp-Param-* headers are not sent: call ` +
        'listTools() first, or give the definition with addKnownTools(), the option "knownTools" or "toolDefinition"',
    );
  }

  private keep(key: string, declared: Declared): void {
    this.listed.set(key, declared);
    this.size += declared.size;
    // They are in the order in which they were listed last.
    for (const oldest of this.listed.keys()) {
      if (this.listed.size <= MAX_LISTED && this.size <= MAX_SIZE) break;
      this.forget(oldest);
    }
    if (this.known.has(key)) this.known.set(key, declared.params);
  }

  private forget(key: string): void {
    this.size -= this.listed.get(key)?.size ?? 0;
    this.listed.delete(key);
  }

  private invalid(name: string, reason: string): void {
    this.warnOnce(
      'invalid',
      name,
      `The tool ${shorten(name)} is left out of the list, for its definition is invalid: ${reason}`,
    );
  }

  private warnOnce(kind: 'missing' | 'invalid', name: string, message: string): void {
    const warned = this.warnings[kind];
    const key = keyOf(name);
    if (warned.has(key) || warned.size >= MAX_WARNINGS) return;
    warned.add(key);
    this.warn(message);
  }
}

type Declared = Extract<HeaderParams, { ok: true }>;

function assertList(value: unknown, message: string): void {
  if (!Array.isArray(value)) throw new TypeError(message);
}

/** What stands for a name: a server may make it as long as it likes. */
const keyOf = (name: string): string =>
  name.length <= MAX_SHOWN
    ? name
    : name.slice(0, MAX_SHOWN) + createHash('sha256').update(name).digest('base64');

const shorten = (name: string): string => JSON.stringify(name.slice(0, MAX_SHOWN));
