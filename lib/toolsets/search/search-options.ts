import { McpBootstrapError } from '../../exceptions/mcp-bootstrap.error.js';
import { resolve } from '../../options/check-options.js';
import { listOf, objectOf, TEXT } from '../../options/option-schema.js';

/** Options of `McpToolSearchModule`. */
export interface McpToolSearchOptions {
  /** Names of the tools that stay in `tools/list`. Default: none. */
  alwaysVisible?: string[];
  /** Name of the server. Default: the first server of the application. */
  server?: string;
}

export type ToolSearchSettings = Readonly<
  Required<Omit<McpToolSearchOptions, 'server'>> & Pick<McpToolSearchOptions, 'server'>
>;

export const TOOL_SEARCH = objectOf<McpToolSearchOptions, ToolSearchSettings>(
  { alwaysVisible: { ...listOf(TEXT), default: [] }, server: TEXT },
  { title: 'options' },
);

/** @throws McpBootstrapError for a wrong option */
export const resolveToolSearchOptions = (options: McpToolSearchOptions): ToolSearchSettings =>
  resolve(TOOL_SEARCH, options, problem => new McpBootstrapError('McpToolSearchModule', problem));
