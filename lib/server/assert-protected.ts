import type { Entry } from '../catalog/entries.js';
import { McpBootstrapError } from '../exceptions/mcp-bootstrap.error.js';
import type { McpServerInstance } from './mcp-server-instance.js';

/** @throws McpBootstrapError for a handler with `@RequireScopes()` on a server that does not check tokens */
export function assertProtected({ access, where }: Entry, { access: own, options }: McpServerInstance): void {
  if (!access || access.anonymous || own?.authorizer || options.http === false) return;
  throw new McpBootstrapError(
    where,
    `it has @RequireScopes(), but no module checks the tokens of the server "${options.name}"; import McpAuthModule.forRoot()`,
  );
}
