import type { CompletionEntry, Entry } from '../catalog/entries.js';
import { McpBootstrapError } from '../exceptions/mcp-bootstrap.error.js';
import type { McpServerInstance } from '../server/mcp-server-instance.js';

/** @throws McpBootstrapError for a completion whose prompt, template or argument the server does not have */
export function assertCompletes(entry: Entry, { catalog, options }: McpServerInstance): void {
  if (entry.kind !== 'completion' || exists(entry, catalog)) return;
  const { prompt, resourceTemplate, argument } = entry.ref;
  throw new McpBootstrapError(
    entry.where,
    `it completes "${argument}" of "${prompt ?? resourceTemplate}", which the server "${options.name}" does not have; correct the name, or add the prompt or template`,
  );
}

function exists(
  { ref }: CompletionEntry,
  { prompts, resourceTemplates }: McpServerInstance['catalog'],
): boolean {
  const { prompt, resourceTemplate = '', argument } = ref;
  if (prompt === undefined) {
    return resourceTemplates.get(resourceTemplate)?.template.variables.includes(argument) ?? false;
  }
  const names = prompts.get(prompt)?.definition.arguments?.map(({ name }) => name);
  return prompts.has(prompt) && (names === undefined || names.includes(argument));
}
