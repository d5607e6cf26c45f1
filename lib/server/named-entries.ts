import type { Catalog } from '../catalog/catalog.js';
import type { Entry } from '../catalog/entries.js';
import type { Params } from '../protocol/mcp-call.js';

/**
 * The handlers that a request names. A completion request names two: the prompt or template, and the completion
 * handler.
 */
export function namedIn(catalog: Catalog, method: string, params: Params): readonly Entry[] {
  const { name, uri } = params as { name?: string; uri?: unknown };
  switch (method) {
    case 'tools/call':
      return present(catalog.tools.get(name!));
    case 'prompts/get':
      return present(catalog.prompts.get(name!));
    case 'resources/read':
    case 'resources/subscribe':
      return typeof uri === 'string'
        ? present(catalog.resources.get(uri) ?? catalog.matchTemplate(uri)?.entry)
        : [];
    case 'completion/complete':
      return completed(catalog, params);
    default:
      return [];
  }
}

function completed(catalog: Catalog, { ref, argument }: Params): readonly Entry[] {
  const { type, name, uri } = (ref ?? {}) as Record<string, string>;
  const { name: completes } = (argument ?? {}) as Record<string, string>;
  const isPrompt = type === 'ref/prompt';
  const owner = isPrompt
    ? catalog.prompts.get(name)
    : (catalog.resourceTemplates.get(uri) ?? catalog.resources.get(uri));
  const completer = catalog.completer(
    isPrompt ? 'prompt' : 'resource template',
    isPrompt ? name : uri,
    completes,
  );
  return present(owner, completer && 'run' in completer ? completer : undefined);
}

const present = (...entries: readonly (Entry | undefined)[]): readonly Entry[] =>
  entries.filter(entry => entry !== undefined);
