import { Injectable, type Type } from '@nestjs/common';
import { Tool } from '../../decorators/handler.decorators.js';
import { Args, Ctx } from '../../decorators/params.decorator.js';
import type { McpContext } from '../../execution/mcp-context.js';
import type { McpCall } from '../../protocol/mcp-call.js';
import { InAllToolsets } from '../toolset.decorator.js';
import { CALL_TOOL, SEARCH_TOOLS, ToolSearch } from './tool-search.js';

const DEFAULT_LIMIT = 5;

const SEARCH_SCHEMA = {
  type: 'object',
  properties: {
    query: {
      type: 'string',
      minLength: 1,
      maxLength: 200,
      description: 'What the tool should do, in a few words',
    },
    limit: {
      type: 'integer',
      minimum: 1,
      maximum: 20,
      default: DEFAULT_LIMIT,
      description: 'The number of tools to return',
    },
  },
  required: ['query'],
  additionalProperties: false,
} as const;

const CALL_SCHEMA = {
  type: 'object',
  properties: {
    name: { type: 'string', description: `The name of a tool that ${SEARCH_TOOLS} has found` },
    arguments: { type: 'object', description: 'Its arguments, by its input schema' },
  },
  required: ['name'],
  additionalProperties: false,
} as const;

/** Declares the two tools. @param server the name of the server that has them */
export function searchToolsOf(server: string | undefined): Type {
  @InAllToolsets()
  @Injectable()
  class SearchTools {
    constructor(private readonly search: ToolSearch) {}

    @Tool({
      name: SEARCH_TOOLS,
      server,
      description: `Finds the tools of this server by words of a task. Returns names, descriptions and input schemas. Call a tool with ${CALL_TOOL}.`,
      inputSchema: SEARCH_SCHEMA,
      annotations: { readOnlyHint: true, openWorldHint: false },
    })
    find(@Args() { query, limit }: { query: string; limit?: number }, @Ctx() ctx: McpContext) {
      const { call } = ctx as unknown as { readonly call: McpCall };
      return this.search.find(call, query, limit ?? DEFAULT_LIMIT);
    }

    @Tool({
      name: CALL_TOOL,
      server,
      description: `Calls a tool of this server by its name. ${SEARCH_TOOLS} finds names and input schemas.`,
      inputSchema: CALL_SCHEMA,
    })
    call() {
      return `${CALL_TOOL} does not call itself. Name a tool that ${SEARCH_TOOLS} has found.`;
    }
  }
  return SearchTools;
}
