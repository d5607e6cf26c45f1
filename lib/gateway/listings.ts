import { ResourceNotFoundError } from '@modelcontextprotocol/server';
import type { Listing } from '../interceptors/boundary/listing.js';
import type { DispatchedMethod, Params } from '../server/dispatcher.js';
import type { Exchange } from '../server/exchange.js';
import { unknownPrompt, unknownTool } from '../server/unknown.js';
import type { Backend } from './backend.js';
import { canonicalUri } from '../interceptors/protocol/canonical-uri.js';
import { LIST_MEMBERS, rowsOf, type ListMethod, type Row } from './known-lists.js';
import { reachAll } from './backend-set.js';
import { prefixed, withoutPrefix } from './names.js';
import { shows } from './router.js';

/** Where the backends list what a call names, so that what is hidden of a list cannot be used. */
export class Listings {
  constructor(private readonly backends: readonly Backend[]) {}

  /**
   * The page that shows it; undefined for a method that uses nothing that is listed.
   * @throws McpException where a backend that may have it cannot be reached
   */
  async for(method: DispatchedMethod, params: Params, exchange: Exchange): Promise<Listing | undefined> {
    const { name, uri, ref } = params as { name?: unknown; uri?: unknown; ref?: unknown };
    switch (method) {
      case 'tools/call':
        return this.findNamed('tools/list', name, unknownTool, exchange);
      case 'prompts/get':
        return this.findNamed('prompts/list', name, unknownPrompt, exchange);
      case 'completion/complete': {
        const { type, name: prompt, uri: template } = (ref ?? {}) as Row;
        if (type === 'ref/prompt') return this.findNamed('prompts/list', prompt, unknownPrompt, exchange);
        const refusal = new ResourceNotFoundError(String(template));
        const is = (row: Row) => row['uriTemplate'] === template || row['uri'] === template;
        const lists: ListMethod[] = ['resources/templates/list', 'resources/list'];
        return this.find(
          lists.map(list => ({ method: list, is })),
          exchange,
          refusal,
        );
      }
      case 'resources/read':
      case 'resources/subscribe': {
        return this.find(lookupsOf(String(uri)), exchange, new ResourceNotFoundError(String(uri)));
      }
      default:
        return undefined;
    }
  }

  private findNamed(
    method: ListMethod,
    name: unknown,
    unknown: (name: string) => Error,
    exchange: Exchange,
  ): Promise<Listing | undefined> {
    const text = String(name);
    const owners = this.backends.filter(({ prefix }) => withoutPrefix(prefix, text) !== undefined);
    return this.find([{ method, is: row => row['name'] === name }], exchange, unknown(text), owners);
  }

  /**
   * The page that shows what a call names, in what its caller sees now; an empty one where none does.
   * @throws McpException where a backend that may have it cannot be reached
   */
  private async find(
    lookups: readonly Lookup[],
    exchange: Exchange,
    refusal: Error,
    backends: readonly Backend[] = this.backends,
  ): Promise<Listing> {
    const met = await reachAll(backends, exchange.signal, backends.length === 1);
    const reached = backends.filter((_, index) => met[index].status === 'fulfilled');
    for (const fresh of [false, true]) {
      for (const { method, is } of lookups) {
        for (const backend of reached) {
          if (!backend.offers(method)) continue;
          for (const page of await backend.lists.pages(method, exchange, fresh)) {
            const result = prefixed(backend.prefix, method, page);
            const meant = rowsOf(method, result).filter(is).length;
            // Of several that may be meant, none may be hidden.
            const isShown = (shown: unknown) => rowsOf(method, shown).filter(is).length >= meant;
            if (meant > 0) return { method, result, isShown, refusal };
          }
        }
      }
    }
    // It may come up at any moment, and what is hidden of it would be used.
    const refused = met.find(one => one.status === 'rejected');
    if (refused) throw refused.reason;
    // A backend may have what it does not list, but may also understand another spelling of what is hidden.
    const [{ method, is }] = lookups;
    const isShown = (shown: unknown) => rowsOf(method, shown).some(is);
    return { method, result: { [LIST_MEMBERS[method]]: [] }, isShown, refusal };
  }
}

/** Which rows of a list stand for what a call names. */
interface Lookup {
  readonly method: ListMethod;
  readonly is: (row: Row) => boolean;
}

/** Where a resource is listed: as it is spelt, or else in another spelling, or else as one of a template's. */
function lookupsOf(uri: string): Lookup[] {
  const canonical = canonicalUri(uri);
  return [
    { method: 'resources/list', is: row => row['uri'] === uri },
    { method: 'resources/list', is: row => canonicalUri(String(row['uri'])) === canonical },
    { method: 'resources/templates/list', is: row => shows(row, uri) },
  ];
}
