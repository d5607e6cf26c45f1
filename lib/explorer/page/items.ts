import type { CallerList, CatalogueEntry, Kind, MissingEntry } from '../api.js';
import type { State } from './state.js';
import { textOf, type Json } from './values.js';

/** A handler: what the server has, and what the caller gets of it. */
export interface Item {
  readonly kind: Kind;
  readonly name: string;
  readonly description: string;
  readonly group: string;
  /** Absent for what a backend of a gateway offers. */
  readonly entry?: CatalogueEntry;
  /** The entry in the list of the caller, if the caller gets it. */
  readonly listed?: Json;
  readonly missing?: MissingEntry;
}

export const LIST_OF: Readonly<Partial<Record<Kind, CallerList['method']>>> = {
  tool: 'tools/list',
  prompt: 'prompts/list',
  resource: 'resources/list',
  'resource template': 'resources/templates/list',
  method: 'extension methods',
};

export const HEADINGS: Readonly<Record<Kind, string>> = {
  tool: 'Tools',
  prompt: 'Prompts',
  resource: 'Resources',
  'resource template': 'Resource templates',
  completion: 'Completions',
  method: 'Methods of extensions',
};

export const nameIn = (entry: Json): string =>
  textOf(entry['uriTemplate'] ?? entry['uri'] ?? entry['name'] ?? '');

/** The handlers of the server, and what else its lists hold. */
export async function itemsOf(state: State): Promise<{ items: Item[]; refused?: string }> {
  const { lists, refused } = await state.callerView().catch((error: unknown) => ({
    lists: [],
    refused: error instanceof Error ? error.message : String(error),
  }));
  const byMethod = new Map<string, CallerList>(lists.map(list => [list.method, list]));
  const known = state.server.handlers.map((entry): Item => {
    const { kind, name, description = '', className } = entry;
    const list = byMethod.get(LIST_OF[kind] ?? '');
    const listed = list?.entries.find(one => nameIn(one) === name);
    const missing = list?.missing.find(one => one.name === name);
    return {
      kind,
      name,
      description,
      group: className === '' ? 'nestjs-mcp' : className,
      entry,
      ...(listed && { listed }),
      ...(missing && { missing }),
    };
  });
  const names = new Set(known.map(({ kind, name }) => `${kind} ${name}`));
  const others = Object.entries(LIST_OF).flatMap(([kind, method]) =>
    (byMethod.get(method)?.entries ?? []).map((listed): Item => {
      const description = textOf(listed['description'] ?? '');
      return { kind: kind as Kind, name: nameIn(listed), description, group: HEADINGS[kind as Kind], listed };
    }),
  );
  const items = [...known, ...others.filter(({ kind, name }) => !names.has(`${kind} ${name}`))];
  return { items, ...(refused !== undefined && { refused }) };
}
