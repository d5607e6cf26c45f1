import type { CompletionEntry, Entry } from '../catalog/entries.js';
import { McpBootstrapError } from '../exceptions/mcp-bootstrap.error.js';
import type { HandlerTable } from '../server/handler-table.js';
import type { ServerDraft } from './server-draft.js';

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
