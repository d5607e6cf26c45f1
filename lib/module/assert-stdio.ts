import { McpBootstrapError } from '../exceptions/mcp-bootstrap.error.js';
import type { ServerDraft } from './server-draft.js';

/**
 * Refuses tools over stdio that are routes with parts that may need an HTTP request.
 * @throws McpBootstrapError
 */
export function assertStdio({ options, table }: ServerDraft): void {
  if (!options.stdio) return;
  for (const { run, where } of table.enabled()) {
    const reader = run.plan.route?.overStdio();
    if (reader === undefined) continue;
    throw new McpBootstrapError(
      where,
      `calls over stdio have no HTTP request, which ${reader} may need; add { stdio: true } to @Tool() if the route is safe without it, or turn "stdio" off`,
    );
  }
}
