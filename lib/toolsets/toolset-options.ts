import { McpBootstrapError } from '../exceptions/mcp-bootstrap.error.js';
import { resolve } from '../options/check-options.js';
import { FLAG, objectOf, TEXT } from '../options/option-schema.js';

/** Options of `McpToolsetsModule`. */
export interface McpToolsetsOptions {
  /** The part of the path before the names of sets: `/mcp/x/billing`. Default: `x`. */
  segment?: string;
  /**
   * Whether the headers `X-MCP-Toolsets`, `X-MCP-Tools`, `X-MCP-Exclude-Tools` and `X-MCP-Readonly` choose tools, too.
   * Default: false.
   */
  headers?: boolean;
  /** Name of the server. Default: all servers of the application. */
  server?: string;
}

export type ToolsetSettings = Required<Omit<McpToolsetsOptions, 'server'>> &
  Pick<McpToolsetsOptions, 'server'>;

export const TOOLSETS = objectOf<McpToolsetsOptions, ToolsetSettings>(
  {
    segment: {
      type: 'string',
      pattern: '^[\\w-]+$',
      description: 'a part of a path, without "/"',
      default: 'x',
    },
    headers: { ...FLAG, default: false },
    server: TEXT,
  },
  { title: 'options' },
);

/** @throws McpBootstrapError for a wrong option */
export const resolveToolsetsOptions = (options: McpToolsetsOptions): ToolsetSettings =>
  resolve(TOOLSETS, options, problem => new McpBootstrapError('McpToolsetsModule', problem));
