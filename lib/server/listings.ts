import { ResourceNotFoundError } from '@modelcontextprotocol/server';
import type { Catalog, Pages } from '../catalog/catalog.js';
import type { Entry } from '../catalog/entries.js';
import type { Listing, Listings } from '../interceptors/boundary/list-guard.js';
import { listOf, rowsOf, type ListMethod, type Row } from '../protocol/methods.js';
import { unknownPrompt, unknownTool } from '../protocol/unknown.js';
import type { Access } from './access.js';

/** Finds the page of a list that shows the handler that a call names. */
export const pageShowing =
  (catalog: () => Catalog, access: () => Access | undefined): Listings['pageShowing'] =>
  (method, params, call) => {
    const now = catalog();
    const listing = (list: ListMethod, wanted: unknown, refusal: Error) => {
      const pages = access()?.pages(list, call) ?? now.pages[list];
      return pages instanceof Promise
        ? pages.then(own => listingIn(own, list, wanted, refusal))
        : listingIn(pages, list, wanted, refusal);
    };
    const { name, uri } = params as { name?: unknown; uri?: unknown };
    switch (method) {
      case 'tools/call':
        return listing('tools/list', name, unknownTool(String(name)));
      case 'prompts/get':
        return listing('prompts/list', name, unknownPrompt(String(name)));
      case 'resources/read':
      case 'resources/subscribe': {
        if (typeof uri !== 'string') return undefined;
        const refusal = new ResourceNotFoundError(uri);
        const listed = (entry: Entry | undefined) =>
          entry?.kind === 'resource template'
            ? listing('resources/templates/list', entry.key, refusal)
            : listing('resources/list', uri, refusal);
        const readers = Array.from(now.readersOf(uri), ({ entry }) => entry);
        const shown = access()?.firstShown(readers, call) ?? readers[0];
        return shown instanceof Promise ? shown.then(listed) : listed(shown);
      }
      case 'completion/complete': {
        const { type, name: prompt, uri: template } = (params['ref'] ?? {}) as Row;
        return type === 'ref/prompt'
          ? listing('prompts/list', prompt, unknownPrompt(String(prompt)))
          : listing('resources/templates/list', template, new ResourceNotFoundError(String(template)));
      }
      default:
        return undefined;
    }
  };

function listingIn(pages: Pages, method: ListMethod, wanted: unknown, refusal: Error): Listing {
  const { lists, key } = listOf(method);
  const shows = (rows: readonly object[]) => rows.some(row => (row as Row)[key] === wanted);
  // Interceptors may add the item to the list. An unknown item also takes as long as an item that interceptors hide.
  return {
    method,
    result: pages.pageWith(shows) ?? { [lists]: [] },
    isShown: result => shows(rowsOf(method, result)),
    refusal,
  };
}
