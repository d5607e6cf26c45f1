import { McpBootstrapError } from '../exceptions/mcp-bootstrap.error.js';
import type { ServerExtension } from '../protocol/server-extension.js';
import type { McpServerInstance } from '../server/mcp-server-instance.js';
import { handlerOptions, warnOfHints } from './tool-hints.js';
import type { ToolsetSettings } from './toolset-options.js';
import { ToolsetViews } from './toolset-views.js';

/** Gives sets of handlers URLs of their own. */
export class ToolsetsExtension implements ServerExtension {
  readonly handlerOptions = handlerOptions;
  readonly views: ToolsetViews;
  private server!: McpServerInstance;

  constructor(settings: ToolsetSettings) {
    this.views = new ToolsetViews(settings, () => this.server);
  }

  /** @throws McpBootstrapError for an endpoint whose own path would choose a set */
  attach(server: McpServerInstance): void {
    this.server = server;
    const wrong = server.paths.find(path => this.views.suffixIn(path) !== '');
    if (wrong !== undefined) {
      throw new McpBootstrapError('McpToolsetsModule', `the path ${wrong} of the server ends like a toolset`);
    }
    warnOfHints(server);
  }

  startLines(): readonly string[] {
    const { paths } = this.server;
    return paths.length === 0 ? [] : [`Toolsets: ${[...this.views.names].sort().join(', ') || 'none'}`];
  }
}
