import { McpContext } from '../execution/mcp-context.js';
import { declares } from '../protocol/declared-extension.js';
import type { ToolUiOptions } from './app-options.js';

/**
 * The MIME type of a view. Specification: SEP-1865, UI resource format.
 * @example
 * ```ts
 * const client = await createTestClient(app, {
 *   capabilities: { extensions: { 'io.modelcontextprotocol/ui': { mimeTypes: [APP_MIME_TYPE] } } },
 * });
 * ```
 */
export const APP_MIME_TYPE = 'text/html;profile=mcp-app';

/** The identifier of the extension (SEP-1865). */
export const APPS_EXTENSION = 'io.modelcontextprotocol/ui';

declare module '../execution/mcp-context.js' {
  interface McpContext {
    /** Whether the client shows views. Give others a text that is enough. */
    readonly supportsUi?: boolean;
  }
}

declare module '../decorators/handler-options.js' {
  interface ToolOptions {
    /** The view that shows the results of the tool: its URI, or more options. Needs `McpAppsModule`. Default: none. */
    ui?: string | ToolUiOptions;
  }
}

export function addToContext(): void {
  Object.defineProperty(McpContext.prototype, 'supportsUi', {
    configurable: true,
    get(this: McpContext): boolean {
      const { call } = this as unknown as { readonly call: Parameters<typeof declares>[0] };
      if (!declares(call, APPS_EXTENSION)) return false;
      const { mimeTypes } = call.clientCapabilities!.extensions![APPS_EXTENSION] as { mimeTypes?: unknown };
      return Array.isArray(mimeTypes) && mimeTypes.includes(APP_MIME_TYPE);
    },
  });
}
