export { McpAppsModule } from './mcp-apps.module.js';
export { App } from './app.decorator.js';
export { APP_MIME_TYPE } from './app-context.js';
export type { AppCsp, AppOptions, AppPermission, ToolUiOptions } from './app-options.js';
