import type { Catalog, Pages } from '../catalog/catalog.js';
import type { Entry } from '../catalog/entries.js';
import type { Listing, Listings } from '../protocol/listings.js';
import { itemOf, LIST_OF, listOf, rowsOf, type ListMethod, type Row } from '../protocol/methods.js';
import { unknownItem } from '../protocol/unknown.js';
import type { Visibility } from './visibility.js';

/** Finds the page of a list that shows the handler that a call names. */
export const pageShowing =
  (catalog: () => Catalog, visibility: Visibility): Listings['pageShowing'] =>
  (method, params, call) => {
    const listing = (list: ListMethod, wanted: unknown, refusal: Error) => {
      const pages = visibility.pages(list, call);
      return pages instanceof Promise
        ? pages.then(own => listingIn(own, list, wanted, refusal))
        : listingIn(pages, list, wanted, refusal);
    };
    const item = itemOf(method, params);
    if (!item) return undefined;
    const { kind, id } = item;
    const refusal = unknownItem(kind, String(id));
    if (kind !== 'resource') return listing(LIST_OF[kind], id, refusal);
    if (typeof id !== 'string') return undefined;
    const listed = (entry: Entry | undefined) =>
      entry?.kind === 'resource template'
        ? listing(LIST_OF[entry.kind], entry.key, refusal)
        : listing(LIST_OF[kind], id, refusal);
    const shown = visibility.firstShown(catalog().entriesOf(item), call);
    return shown instanceof Promise ? shown.then(listed) : listed(shown);
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
