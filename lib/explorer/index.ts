export { McpExplorerModule } from './mcp-explorer.module.js';
export type { McpExplorerOptions } from './explorer-options.js';
