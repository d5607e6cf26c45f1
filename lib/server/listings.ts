import { ResourceNotFoundError } from '@modelcontextprotocol/server';
import type { Catalog } from '../catalog/catalog.js';
import type { Pages } from '../catalog/pages.js';
import type { Listing, Listings } from '../interceptors/boundary/listing.js';
import type { DispatchedMethod } from '../protocol/methods.js';
import { unknownPrompt, unknownTool } from '../protocol/unknown.js';

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
        return template === undefined
          ? listing('resources/list', 'resources', 'uri', now.resourcePages, uri, refusal)
          : ofTemplate(now, template, refusal);
      }
      case 'completion/complete': {
        const { type, name: prompt, uri: template } = (params['ref'] ?? {}) as Row;
        return type === 'ref/prompt'
          ? listing('prompts/list', 'prompts', 'name', now.promptPages, prompt, unknownPrompt(String(prompt)))
          : ofTemplate(now, template, new ResourceNotFoundError(String(template)));
      }
      default:
        return undefined;
    }
  },
});

const ofTemplate = (now: Catalog, template: unknown, refusal: Error): Listing =>
  listing(
    'resources/templates/list',
    'resourceTemplates',
    'uriTemplate',
    now.resourceTemplatePages,
    template,
    refusal,
  );

function listing(
  method: DispatchedMethod,
  member: string,
  key: string,
  pages: Pages,
  wanted: unknown,
  refusal: Error,
): Listing {
  const shows = (rows: readonly object[]) => rows.some(row => (row as Row)[key] === wanted);
  // What is on no page may be there once interceptors have seen the list; and it takes as long as what they hide.
  return {
    method,
    result: pages.pageWith(shows) ?? { [member]: [] },
    isShown: result => shows((result as Readonly<Record<string, object[]>>)[member] ?? []),
    refusal,
  };
}
