import type { CatalogueEntry } from '../api.js';
import { CallPanel } from './call-panel.js';
import { diffView } from './diff-view.js';
import { badge, code, failure, fill, h, placeLink, type Child } from './dom.js';
import { HandlerList } from './handler-list.js';
import { argsOf, runsOf } from './history.js';
import { itemsOf, type Item } from './items.js';
import { linkTo, linkToHandler, type Route } from './route.js';
import { schemaView } from './schema-view.js';
import type { State } from './state.js';
import { count, isRecord, pretty, revisionsOf, textOf } from './values.js';
import { View } from './view.js';
import { wayView } from './way-view.js';

const TABS = [
  ['', 'Overview'],
  ['call', 'Call'],
  ['definition', 'Definition'],
] as const;

/** The handlers of the server: a list beside the chosen one, with its way, its calls and its definition. */
export class HandlersView extends View {
  private items: readonly Item[] = [];
  private list!: HandlerList;
  private readonly detail = h('section.detail', { 'aria-label': 'Handler', tabindex: -1 });
  private readonly panels = new Map<Item, CallPanel>();
  private item?: Item;
  private tab = '';
  private refused?: string;

  protected async build(): Promise<Child[]> {
    const { items, refused } = await itemsOf(this.state);
    this.items = items;
    this.refused = refused;
    this.list = new HandlerList(items, () => (this.tab === '' ? undefined : this.tab));
    return [h('div.split', this.list.element, this.detail)];
  }

  protected override show({ kind, rest: [name, tab = ''], query }: Route): void {
    this.classList.toggle('has-item', name !== undefined);
    const item =
      name === undefined
        ? this.items[0]
        : (this.items.find(one => one.kind === kind && one.name === name) ??
          this.items.find(one => one.name === name));
    const isOther = item !== this.item;
    this.item = item;
    this.tab = tab;
    this.list.choose(item);
    if (!item) {
      fill(
        this.detail,
        h('div.empty', name === undefined ? this.emptyText() : `This server has no ${name}.`),
      );
      return;
    }
    const focused = document.activeElement;
    fill(this.detail, ...this.headOf(item), this.bodyOf(item, query));
    if (isOther) this.detail.scrollTop = 0;
    // A tab that was pressed has been drawn again.
    if (focused instanceof HTMLAnchorElement && !focused.isConnected) {
      this.detail.querySelector<HTMLElement>('.tabs [aria-current]')?.focus();
    }
  }

  private emptyText(): string {
    if (this.refused !== undefined) return `The server refuses this caller: ${this.refused}`;
    return this.state.server.isGateway
      ? 'The backends of this gateway offer this caller nothing.'
      : 'This server has no handlers.';
  }

  private headOf(item: Item): Child[] {
    const { kind, name, description, missing, listed, entry } = item;
    const { callerText } = this.state;
    return [
      h('a.back', { href: linkTo(['tools']) }, '‹ All handlers'),
      h(
        'header',
        h('h2', h('span.mono', name), ' ', badge(kind)),
        h('p', description === '' ? h('em', 'No description') : description),
        missing && h('p.alert', `${callerText} does not get it: ${missing.why}.`),
        !missing && !listed && kind !== 'completion' && this.refused !== undefined
          ? h('p.alert', `${callerText} gets no lists: ${this.refused}`)
          : undefined,
        entry &&
          entry.tokens > 0 &&
          h('p.hint', `About ${count(entry.tokens, 'token')} in a model's context`),
      ),
      h(
        'nav.tabs',
        { 'aria-label': 'About the handler' },
        TABS.filter(([tab]) => tab !== 'call' || kind !== 'completion').map(([tab, text]) =>
          placeLink(linkToHandler(kind, name, tab === '' ? undefined : tab), tab === this.tab, text),
        ),
      ),
    ];
  }

  private bodyOf(item: Item, query: URLSearchParams): Child {
    if (this.tab === 'definition') return definitionView(item);
    if (this.tab !== 'call') return overviewOf(this.state, item);
    const known = this.panels.get(item);
    const panel = known ?? Object.assign(new CallPanel(), { state: this.state, item });
    this.panels.set(item, panel);
    const run = runsOf(this.state.server.name).find(({ id }) => id === query.get('run'));
    const args = run ? JSON.stringify(argsOf(run)) : query.get('args');
    if (args) panel.prefill(args);
    return panel;
  }
}

/** The facts of a handler that differ from the defaults, and the way of its messages. */
function overviewOf(state: State, item: Item): HTMLElement {
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

/** The schemas of a handler, and its entry as clients get it. */
function definitionView({ entry, listed }: Item): HTMLElement {
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
