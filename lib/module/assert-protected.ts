import type { Entry } from '../catalog/entries.js';
import { McpBootstrapError } from '../exceptions/mcp-bootstrap.error.js';
import type { ServerDraft } from './server-draft.js';

/** @throws McpBootstrapError for a handler with `@RequireScopes()` on a server that does not check tokens */
export function assertProtected(
  { requirement, where }: Pick<Entry, 'requirement' | 'where'>,
  draft: ServerDraft,
): void {
  if (requirement && !requirement.anonymous) assertChecked(where, '@RequireScopes()', draft);
}

/** @throws McpBootstrapError for a gateway with `toolScopes` on a server that does not check tokens */
export function assertGatewayProtected(draft: ServerDraft): void {
  const where = `McpGatewayModule.forRoot({ name: "${draft.options.name}" })`;
  const rules = draft.extensions.flatMap(({ handlers }) => handlers?.requirements() ?? []);
  if (rules.some(({ requirement }) => requirement)) assertChecked(where, '"toolScopes"', draft);
}

function assertChecked(where: string, needs: string, { extensions, options }: ServerDraft): void {
  if (extensions.some(({ permissions }) => permissions) || options.http === false) return;
  throw new McpBootstrapError(
    where,
    `it has ${needs}, but no module checks the tokens of the server "${options.name}"; import McpAuthModule.forRoot()`,
  );
}
