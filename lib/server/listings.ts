import { ResourceNotFoundError } from '@modelcontextprotocol/server';
import type { Catalog } from '../catalog/catalog.js';
import type { Listing, Listings } from '../interceptors/boundary/list-guard.js';
import { listOf, rowsOf, type ListMethod, type Row } from '../protocol/methods.js';
import { unknownPrompt, unknownTool } from '../protocol/unknown.js';

/** Finds the page of a list that shows what a call names. */
export const listingsOf = (catalog: () => Catalog): Listings => ({
  pageShowing(method, params) {
    const now = catalog();
    const { name, uri } = params as { name?: unknown; uri?: unknown };
    switch (method) {
      case 'tools/call':
        return listing(now, 'tools/list', name, unknownTool(String(name)));
      case 'prompts/get':
        return listing(now, 'prompts/list', name, unknownPrompt(String(name)));
      case 'resources/read':
      case 'resources/subscribe': {
        if (typeof uri !== 'string') return undefined;
        const refusal = new ResourceNotFoundError(uri);
        const template = now.resources.has(uri) ? undefined : now.matchTemplate(uri)?.entry.key;
        return template === undefined
          ? listing(now, 'resources/list', uri, refusal)
          : listing(now, 'resources/templates/list', template, refusal);
      }
      case 'completion/complete': {
        const { type, name: prompt, uri: template } = (params['ref'] ?? {}) as Row;
        return type === 'ref/prompt'
          ? listing(now, 'prompts/list', prompt, unknownPrompt(String(prompt)))
          : listing(now, 'resources/templates/list', template, new ResourceNotFoundError(String(template)));
      }
      default:
        return undefined;
    }
  },
});

function listing({ pages }: Catalog, method: ListMethod, wanted: unknown, refusal: Error): Listing {
  const { lists, key } = listOf(method);
  const shows = (rows: readonly object[]) => rows.some(row => (row as Row)[key] === wanted);
  // What is on no page may be there once interceptors have seen the list; and it takes as long as what they hide.
  return {
    method,
    result: pages[method].pageWith(shows) ?? { [lists]: [] },
    isShown: result => shows(rowsOf(method, result)),
    refusal,
  };
}
