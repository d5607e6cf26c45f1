import type { Catalog } from '../catalog/catalog.js';
import type { Entry } from '../catalog/entries.js';
import type { Params } from '../protocol/mcp-call.js';

/** The handlers that a request names. */
export interface Named {
  /** The handlers that can answer, the preferred handler first. */
  readonly entries: readonly Entry[];
  /** The handler that completes an argument of the first entry. */
  readonly completer?: Entry;
}

export function namedIn(catalog: Catalog, method: string, params: Params): Named {
  const { name, uri } = params as { name?: string; uri?: unknown };
  switch (method) {
    case 'tools/call':
      return present(catalog.tools.get(name!));
    case 'prompts/get':
      return present(catalog.prompts.get(name!));
    case 'resources/read':
    case 'resources/subscribe':
      return typeof uri === 'string'
        ? { entries: Array.from(catalog.readersOf(uri), ({ entry }) => entry) }
        : NONE;
    case 'completion/complete':
      return completed(catalog, params);
    default:
      return NONE;
  }
}

function completed(catalog: Catalog, { ref, argument }: Params): Named {
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
  return { ...present(owner), ...(completer && 'run' in completer && { completer }) };
}

const NONE: Named = { entries: [] };

const present = (entry: Entry | undefined): Named => (entry ? { entries: [entry] } : NONE);
