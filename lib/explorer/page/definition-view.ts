import type { CatalogueEntry } from '../api.js';
import { diffView } from './diff-view.js';
import { code, h, type Child } from './dom.js';
import type { Item } from './items.js';
import { schemaView } from './schema-view.js';
import { pretty } from './values.js';

/** The schemas of a handler, and its entry as clients get it. */
export function definitionView({ entry, listed }: Item): HTMLElement {
  const definition = entry?.definitions?.modern ?? listed;
  const input = definition?.['inputSchema'] ?? entry?.params;
  const output = definition?.['outputSchema'] ?? entry?.result;
  return h(
    'div.stack',
    input !== undefined && [h('h3', 'Input'), schemaView(input)],
    output !== undefined && [h('h3', 'Output'), schemaView(output)],
    entry?.definitions ? sentAs(entry.definitions) : listed && code(pretty(listed), 'Definition'),
  );
}

function sentAs({ modern, legacy }: NonNullable<CatalogueEntry['definitions']>): Child[] {
  const texts = { modern: pretty(modern), legacy: pretty(legacy) };
  if (texts.modern === texts.legacy) {
    return [h('h3', 'As sent, in every revision'), code(texts.modern, 'Definition')];
  }
  const shown = (value: unknown) => ({ value, size: 0 });
  return [
    h('h3', 'As sent in 2026-07-28'),
    code(texts.modern, 'Definition in 2026-07-28'),
    h(
      'details',
      h('summary', 'What revisions 2025-11-25 and earlier get instead'),
      diffView(shown(modern), shown(legacy), 'Difference between the revisions'),
    ),
  ];
}
