import type { Entry } from '../catalog/entries.js';
import { McpBootstrapError } from '../exceptions/mcp-bootstrap.error.js';
import type { McpServerInstance } from '../server/mcp-server-instance.js';

/** @throws McpBootstrapError for a handler with `@RequireScopes()` on a server that does not check tokens */
export function assertProtected({ access, where }: Entry, host: McpServerInstance): void {
  if (access && !access.anonymous) assertChecked(where, '@RequireScopes()', host);
}

/** @throws McpBootstrapError for a gateway with `toolScopes` on a server that does not check tokens */
export function assertGatewayProtected(host: McpServerInstance): void {
  const where = `McpGatewayModule.forRoot({ name: "${host.options.name}" })`;
  if (host.handlers.toolScopes) assertChecked(where, '"toolScopes"', host);
}

function assertChecked(where: string, needs: string, { access, options }: McpServerInstance): void {
  if (access?.authorizer || options.http === false) return;
  throw new McpBootstrapError(
    where,
    `it has ${needs}, but no module checks the tokens of the server "${options.name}"; import McpAuthModule.forRoot()`,
  );
}
