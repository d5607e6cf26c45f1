import type { Listing } from '../interceptors/boundary/listing.js';
import type { Exchange } from '../server/exchange.js';
import { reach } from './backend-set.js';
import type { Backend } from './backend.js';
import { LISTS, rowsOf } from './methods.js';
import { prefixed, withoutPrefix } from './names.js';
import type { Target } from './target.js';

/**
 * The page that shows a target to its caller now, or an empty page. Interceptors that hide a row of the page keep the
 * target from being used.
 * @throws McpException if the backend that may list the target cannot be reached
 */
export async function listingOf(
  { id, isNamed, lookups, unknown: refusal }: Target,
  all: readonly Backend[],
  exchange: Exchange,
): Promise<Listing> {
  const owners = all.filter(({ prefix }) => !isNamed || withoutPrefix(prefix, id) !== undefined);
  const { backends, problem } = await reach(owners, exchange.signal, owners.length === 1);
  for (const fresh of [false, true]) {
    for (const { list, is } of lookups) {
      for (const backend of backends.filter(one => one.offers(list))) {
        for (const page of await backend.lists.pages(list, exchange, fresh)) {
          const result = prefixed(backend.prefix, list, page);
          const count = rowsOf(list, result).filter(is).length;
          // If several rows match, interceptors must not hide any of them.
          const isShown = (shown: unknown) => rowsOf(list, shown).filter(is).length >= count;
          if (count > 0) return { method: list, result, isShown, refusal };
        }
      }
    }
  }
  // The backend may come up before the call: a target that its list hides could be used.
  if (problem) throw problem;
  // A backend may serve what it does not list, or know another spelling of a hidden URI.
  const [{ list, is }] = lookups;
  const isShown = (shown: unknown) => rowsOf(list, shown).some(is);
  return { method: list, result: { [LISTS[list].member]: [] }, isShown, refusal };
}
