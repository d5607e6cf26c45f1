import type { Entry } from '../catalog/entries.js';
import { McpBootstrapError } from '../exceptions/mcp-bootstrap.error.js';
import type { ServerDraft } from './server-draft.js';

/** The modules of this package that take options of handlers. */
const OWNERS: Readonly<Record<string, string>> = {
  ui: 'needs McpAppsModule: import McpAppsModule.forRoot() of nestjs-mcp/apps',
  hints: 'needs McpToolsetsModule: import McpToolsetsModule.forRoot() of nestjs-mcp/toolsets',
  task: 'needs McpTasksModule: import McpTasksModule.forRoot() of nestjs-mcp/tasks',
};

/**
 * Gives the options of a handler to the extensions of its server.
 * @throws McpBootstrapError for a wrong value, and for an option that no extension takes
 */
export function claimOptions(entry: Entry, { extensions, options }: ServerDraft): void {
  if (entry.kind !== 'tool') return;
  for (const [name, value] of Object.entries(entry.extensionOptions)) {
    const owner = extensions.find(({ handlerOptions = {} }) => Object.hasOwn(handlerOptions, name));
    if (!owner) {
      const remedy = OWNERS[name] ?? 'does not exist, and no extension has it';
      throw new McpBootstrapError(
        entry.where,
        `the option "${name}" on the server "${options.name}" ${remedy}`,
      );
    }
    try {
      owner.handlerOptions![name](value, entry);
    } catch (error) {
      throw new McpBootstrapError(entry.where, (error as Error).message);
    }
  }
}
