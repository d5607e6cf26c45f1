import { CallPanel } from './call-panel.js';
import { definitionView } from './definition-view.js';
import { badge, fill, h, type Child } from './dom.js';
import { HandlerList } from './handler-list.js';
import { argsOf, runsOf } from './history.js';
import { itemsOf, type Item } from './items.js';
import { linkTo, linkToHandler, type Route } from './route.js';
import { count } from './values.js';
import { View } from './view.js';
import { overviewOf } from './overview.js';

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
          h(
            'a',
            {
              href: linkToHandler(kind, name, tab === '' ? undefined : tab),
              'aria-current': tab === this.tab ? 'page' : undefined,
            },
            text,
          ),
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
