import type { CatalogueEntry } from '../api.js';
import { failure, fill, h, type Child } from './dom.js';
import type { Item } from './items.js';
import type { State } from './state.js';
import { isRecord, revisionsOf, textOf } from './values.js';
import { wayView } from './way-view.js';

/** The facts of a handler that differ from the defaults, and the way of its messages. */
export function overviewOf(state: State, item: Item): HTMLElement {
  const { entry } = item;
  const place = h('div', h('p.loading', 'Loading …'));
  const draw = async () => {
    try {
      fill(place, wayView(item, await state.chain()));
    } catch (error) {
      fill(place, failure(error, draw));
    }
  };
  void draw();
  return h('div.stack', entry && h('dl.facts', factsOf(entry)), place);
}

function factsOf(entry: CatalogueEntry): Child[] {
  const { visible, scopes, anonymous, headers, cache, definitions, eras, nameHeader } = entry;
  const annotations = definitions?.modern['annotations'];
  const fact = (term: string, value: string | undefined) =>
    value !== undefined && value !== '' && h('div', h('dt', term), h('dd', value));
  return [
    fact('Scopes', scopes.join(' ')),
    fact('Without a token', anonymous === undefined ? undefined : anonymous ? 'allowed' : 'refused'),
    fact('Visible if', visible.join(', ')),
    fact('Annotations', isRecord(annotations) ? annotationText(annotations) : undefined),
    fact('Header parameters', headers.map(({ header, argument }) => `${argument} → ${header}`).join(', ')),
    fact('Cache hint', cache && `${cache.ttlMs} ms${cache.scope ? `, ${cache.scope}` : ''}`),
    fact('Revisions', eras?.map(revisionsOf).join(', ')),
    fact('Mcp-Name header', nameHeader && `repeats "${nameHeader}"`),
  ];
}

const annotationText = (annotations: object): string =>
  Object.entries(annotations)
    .map(([key, value]) => `${key}: ${textOf(value)}`)
    .join(', ');
