import type { Catalog } from '../catalog/catalog.js';
import type { Entry } from '../catalog/entries.js';
import type { Params } from '../protocol/mcp-call.js';
import { itemOf, METHODS } from '../protocol/methods.js';

/** The handlers that a request names. */
export interface Named {
  /** The handlers that can answer, the preferred handler first. */
  readonly entries: readonly Entry[];
  /** The handler that completes an argument of the first entry. */
  readonly completer?: Entry;
}

/** The handlers whose permissions a request needs. */
export function namedIn(catalog: Catalog, method: string, params: Params): Named {
  const { names, onlyEnds } = METHODS.get(method) ?? {};
  const item = onlyEnds ? undefined : itemOf(method, params);
  if (!item) return NONE;
  const entries = catalog.entriesOf(item);
  if (names !== 'ref') return { entries };
  const { name } = (params['argument'] ?? {}) as Record<string, string>;
  const kind = item.kind === 'prompt' ? 'prompt' : 'resource template';
  const completer = catalog.completer(kind, item.id as string, name);
  return { entries, ...(completer && 'run' in completer && { completer }) };
}

const NONE: Named = { entries: [] };
