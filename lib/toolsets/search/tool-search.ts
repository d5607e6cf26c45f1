import type { Result, Tool, ToolAnnotations } from '@modelcontextprotocol/server';
import type MiniSearch from 'minisearch';
import type { Catalog } from '../../catalog/catalog.js';
import { McpBootstrapError } from '../../exceptions/mcp-bootstrap.error.js';
import { McpErrorCode, McpException } from '../../exceptions/mcp.exception.js';
import type { Stage } from '../../protocol/answer.js';
import type { McpCall, Params } from '../../protocol/mcp-call.js';
import type { ServerExtension, Stages } from '../../protocol/server-extension.js';
import type { McpServerInstance } from '../../server/mcp-server-instance.js';
import { isRecord } from '../../util/is-record.js';
import { handlerOptions } from '../tool-hints.js';
import type { ToolSearchSettings } from './search-options.js';
import { ToolIndex } from './tool-index.js';

export const SEARCH_TOOLS = 'search_tools';
export const CALL_TOOL = 'call_tool';

/** Lists two tools in place of all others: one that finds the others, and one that calls them. */
export class ToolSearch implements ServerExtension {
  readonly forOwnHandlers = true;
  readonly handlerOptions = handlerOptions;
  private server!: McpServerInstance;
  private readonly listed: ReadonlySet<string>;
  private readonly indexes = new WeakMap<Catalog, ToolIndex>();
  /** The short list of each first page. */
  private readonly lists = new WeakMap<Result, Result>();

  constructor(
    private readonly options: ToolSearchSettings,
    private readonly Search: typeof MiniSearch,
  ) {
    this.listed = new Set([SEARCH_TOOLS, CALL_TOOL, ...options.alwaysVisible]);
  }

  /** @throws McpBootstrapError for a name in `alwaysVisible` that no tool has */
  attach(server: McpServerInstance): void {
    this.server = server;
    const unknown = this.options.alwaysVisible.find(name => !server.catalog.tools.has(name));
    if (unknown === undefined) return;
    throw new McpBootstrapError(
      'McpToolSearchModule',
      `"alwaysVisible" names "${unknown}", which is no tool of the server "${server.options.name}"`,
    );
  }

  /** Makes a call of `call_tool` a call of the tool that it names. */
  redirect(call: McpCall): McpCall {
    const { method, params } = call;
    if (method !== 'tools/call' || params['name'] !== CALL_TOOL) return call;
    const { name, arguments: args = {} } = isRecord(params['arguments']) ? params['arguments'] : {};
    // The tool itself answers what is wrong.
    if (typeof name !== 'string' || !isRecord(args) || name === CALL_TOOL) return call;
    return { ...call, isIndirect: true, params: { ...params, name, arguments: args } };
  }

  stages(method: string): Stages | undefined {
    return method === 'tools/list' ? { answer: this.shortened } : undefined;
  }

  /**
   * Finds tools that the caller may see.
   * @returns a text with the name, the description and the input schema of each tool, the best tool first
   */
  async find(call: McpCall, query: string, limit: number): Promise<string> {
    const { catalog } = this.server;
    const index = this.indexes.get(catalog) ?? new ToolIndex(this.Search, toolsIn(catalog));
    this.indexes.set(catalog, index);
    const all = (await this.allOf(call)).filter(isForModels);
    const seen = new Map(all.map(tool => [tool.name, tool]));
    const found = index.find(query, limit, name => seen.has(name));
    if (found.length === 0) return 'No tool matches. Try other words.';
    return found.map(name => textOf(seen.get(name)!)).join('\n\n');
  }

  /** All tools that a caller would see in `tools/list`, through interceptors. */
  private async allOf(call: McpCall): Promise<Tool[]> {
    const { requestId, era, protocolVersion, reply, sessionId, authInfo, http, clientCapabilities } = call;
    const asked = { requestId, era, protocolVersion, reply, sessionId, authInfo, http, clientCapabilities };
    const list = (params: Params) =>
      this.server.serve(
        { ...asked, method: 'tools/list', params, isSynthetic: true },
        (result: Result) => result,
      );
    return collect(await list({}), cursor => list({ cursor }));
  }

  private readonly shortened: Stage = next => async (call, params) => {
    // The search and the explorer read the whole list.
    if (call.isSynthetic) return next(call, params);
    const { cursor, ...rest } = params;
    if (cursor !== undefined) throw new McpException(McpErrorCode.InvalidParams, 'Unknown cursor');
    const first = await next(call, rest);
    const known = this.lists.get(first);
    if (known) return known;
    const all = await collect(first, more => next(call, { ...rest, cursor: more }));
    const { nextCursor: _, ...page } = first;
    const annotations = leastPermissive(
      all.filter(({ name }) => name !== SEARCH_TOOLS && name !== CALL_TOOL),
    );
    const tools = all
      // A host shows the view of a tool, and lets the view call a tool, only if it is listed.
      .filter(({ name, _meta }) => this.listed.has(name) || _meta?.['ui'] !== undefined)
      .map(tool => (tool.name === CALL_TOOL ? { ...tool, annotations } : tool));
    const short = { ...page, tools };
    this.lists.set(first, short);
    return short;
  };
}

/** Whether a host gives the tool to the model, and not only to views (SEP-1865). */
function isForModels({ _meta }: Tool): boolean {
  const { visibility } = (_meta?.['ui'] ?? {}) as { visibility?: readonly string[] };
  return visibility?.includes('model') ?? true;
}

/** The two tools find neither themselves nor each other. */
const toolsIn = ({ tools }: Catalog): Tool[] =>
  [...tools.values()]
    .filter(({ key }) => key !== SEARCH_TOOLS && key !== CALL_TOOL)
    .map(({ definition }) => definition);

async function collect(first: Result, page: (cursor: string) => Promise<Result>): Promise<Tool[]> {
  const tools = [...(first['tools'] as Tool[])];
  let { nextCursor } = first as { nextCursor?: string };
  while (nextCursor !== undefined) {
    const result = await page(nextCursor);
    tools.push(...(result['tools'] as Tool[]));
    ({ nextCursor } = result as { nextCursor?: string });
  }
  return tools;
}

const textOf = ({ name, description, inputSchema }: Tool): string =>
  [name, description, JSON.stringify(inputSchema)].filter(line => line !== undefined).join('\n');

/** What holds for every call of any of these tools. */
function leastPermissive(tools: readonly Tool[]): ToolAnnotations {
  const all = tools.map(({ annotations = {} }) => annotations);
  const writes = all.filter(({ readOnlyHint }) => readOnlyHint !== true);
  return {
    readOnlyHint: writes.length === 0,
    destructiveHint: writes.some(({ destructiveHint }) => destructiveHint !== false),
    idempotentHint: writes.every(({ idempotentHint }) => idempotentHint === true),
    openWorldHint: all.some(({ openWorldHint }) => openWorldHint !== false),
  };
}
