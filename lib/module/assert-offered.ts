import type { Entry } from '../catalog/entries.js';
import { McpBootstrapError } from '../exceptions/mcp-bootstrap.error.js';
import type { ServerDraft } from './server-draft.js';

/** @throws McpBootstrapError for a handler of the application on a gateway */
export function assertOffered({ where }: Pick<Entry, 'where'>, { extensions, options }: ServerDraft): void {
  if (!extensions.some(({ handlers }) => handlers)) return;
  throw new McpBootstrapError(
    where,
    `the server "${options.name}" is a gateway; it offers only the handlers of its backend, so set "server" of the handler to another server`,
  );
}
