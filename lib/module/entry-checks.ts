import type { CompletionEntry, Entry } from '../catalog/entries.js';
import { McpBootstrapError } from '../exceptions/mcp-bootstrap.error.js';
import type { HandlerTable } from '../server/handler-table.js';
import type { ServerDraft } from './server-draft.js';

/** The modules of this package that take options of handlers. */
const OWNERS: Readonly<Record<string, string>> = {
  ui: 'needs McpAppsModule: import McpAppsModule.forRoot() of nestjs-mcp/apps',
  hints: 'needs McpToolsetsModule: import McpToolsetsModule.forRoot() of nestjs-mcp/toolsets',
  task: 'needs McpTasksModule: import McpTasksModule.forRoot() of nestjs-mcp/tasks',
};

/** @throws McpBootstrapError for a handler of the application on a gateway */
export function assertOffered({ where }: Pick<Entry, 'where'>, { extensions, options }: ServerDraft): void {
  if (!extensions.some(({ handlers }) => handlers)) return;
  throw new McpBootstrapError(
    where,
    `the server "${options.name}" is a gateway; it offers only the handlers of its backend, so set "server" of the handler to another server`,
  );
}

/** @throws McpBootstrapError for a completion whose prompt, template or argument the server does not have */
export function assertCompletes(entry: Entry, { table, options }: ServerDraft): void {
  if (entry.kind !== 'completion' || exists(entry, table)) return;
  const { prompt, resourceTemplate, argument } = entry.ref;
  throw new McpBootstrapError(
    entry.where,
    `it completes "${argument}" of "${prompt ?? resourceTemplate}", which the server "${options.name}" does not have; correct the name, or add the prompt or template`,
  );
}

function exists({ ref }: CompletionEntry, table: HandlerTable): boolean {
  const { prompt, resourceTemplate = '', argument } = ref;
  if (prompt === undefined) {
    return table.get('resource template', resourceTemplate)?.template.variables.includes(argument) ?? false;
  }
  const owner = table.get('prompt', prompt);
  const names = owner?.definition.arguments?.map(({ name }) => name);
  return owner !== undefined && (names === undefined || names.includes(argument));
}

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

/** @throws McpBootstrapError for tools over stdio that are routes with parts that may need an HTTP request */
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
