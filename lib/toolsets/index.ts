export { McpToolsetsModule } from './mcp-toolsets.module.js';
export { McpToolSearchModule } from './search/mcp-tool-search.module.js';
export { Toolset } from './toolset.decorator.js';
export type { ToolHints } from './tool-hints.js';
export type { McpToolsetsOptions } from './toolset-options.js';
export type { McpToolSearchOptions } from './search/search-options.js';
