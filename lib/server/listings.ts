import { ResourceNotFoundError } from '@modelcontextprotocol/server';
import type { Catalog } from '../catalog/catalog.js';
import type { Pages } from '../catalog/pages.js';
import type { Listing, Listings } from '../interceptors/boundary.js';
import type { DispatchedMethod } from './dispatcher.js';
import { unknownPrompt, unknownTool } from './unknown.js';

type Row = Readonly<Record<string, unknown>>;

/** Finds the page of a list that shows what a call names. */
export const listingsOf = (catalog: () => Catalog): Listings => ({
  pageShowing(method, params) {
    const now = catalog();
    const { name, uri } = params as { name?: unknown; uri?: unknown };
    switch (method) {
      case 'tools/call':
        return listing('tools/list', 'tools', 'name', now.toolPages, name, unknownTool(String(name)));
      case 'prompts/get':
        return listing('prompts/list', 'prompts', 'name', now.promptPages, name, unknownPrompt(String(name)));
      case 'resources/read':
      case 'resources/subscribe': {
        if (typeof uri !== 'string') return undefined;
        const refusal = new ResourceNotFoundError(uri);
        if (now.resources.has(uri))
          return listing('resources/list', 'resources', 'uri', now.resourcePages, uri, refusal);
        const template = now.matchTemplate(uri)?.entry.key;
        const pages = now.resourceTemplatePages;
        return listing(
          'resources/templates/list',
          'resourceTemplates',
          'uriTemplate',
          pages,
          template,
          refusal,
        );
      }
      default:
        return undefined;
    }
  },
});

function listing(
  method: DispatchedMethod,
  member: string,
  key: string,
  pages: Pages<object>,
  wanted: unknown,
  refusal: Error,
): Listing | undefined {
  const shows = (rows: readonly object[]) => rows.some(row => (row as Row)[key] === wanted);
  const page = pages.pageWith(shows);
  if (page === undefined) return undefined;
  const { items, ...rest } = page;
  return {
    method,
    result: { [member]: items, ...rest },
    isShown: result => shows((result as Readonly<Record<string, object[]>>)[member] ?? []),
    refusal,
  };
}
