import { fill, h, labelled, reveal } from './dom.js';
import type { Item } from './items.js';
import { linkToHandler } from './route.js';
import { count } from './values.js';

/** The handlers by class, with a filter. Arrow keys move through it, and letters go to the filter. */
export class HandlerList {
  readonly element: HTMLElement;
  private readonly filter = h('input', {
    type: 'search',
    autocomplete: 'off',
    placeholder: 'Name or description',
  });
  private readonly list = h('nav.list', { 'aria-label': 'Handlers' });
  private readonly total = h('p.hint', { role: 'status' });
  private links: HTMLAnchorElement[] = [];
  private chosen?: Item;

  constructor(
    private readonly items: readonly Item[],
    /** Completes links with the open tab. */
    private readonly tab: () => string | undefined,
  ) {
    this.filter.addEventListener('input', () => this.draw());
    this.element = h('div.side', labelled('Filter', this.filter), this.total, this.list);
    this.element.addEventListener('keydown', event => this.move(event));
    this.draw();
  }

  /** Marks the chosen handler and keeps it in sight. */
  choose(item: Item | undefined): void {
    this.chosen = item;
    if (item && !this.shown().includes(item)) this.filter.value = '';
    this.draw();
    reveal(this.list.querySelector('[aria-current]'), this.list);
  }

  private shown(): Item[] {
    const words = this.filter.value.toLowerCase().split(/\s+/);
    return this.items.filter(({ name, description, group }) => {
      const text = `${name} ${description} ${group}`.toLowerCase();
      return words.every(word => text.includes(word));
    });
  }

  private draw(): void {
    const { scrollTop } = this.list;
    const shown = this.shown();
    const groups = Map.groupBy(shown, ({ group }) => group);
    const isFiltered = shown.length < this.items.length;
    this.total.textContent = isFiltered
      ? `${shown.length} of ${count(this.items.length, 'handler')}`
      : count(shown.length, 'handler');
    this.links = [];
    fill(
      this.list,
      [...groups].map(([group, items]) =>
        h(
          'section',
          h('h2', group, ' ', h('span.number', items.length)),
          h('ul', ...items.map(item => h('li', this.link(item)))),
        ),
      ),
      shown.length === 0 && h('p.empty', isFiltered ? 'No handler has these words.' : 'No handlers.'),
    );
    this.list.scrollTop = scrollTop;
  }

  private link(item: Item): HTMLAnchorElement {
    const { kind, name, listed, missing, description } = item;
    const isChosen = item === this.chosen;
    const link = h(
      'a',
      {
        href: linkToHandler(kind, name),
        title: missing?.why ?? description,
        class: missing ? 'missing' : listed ? '' : 'unlisted',
        'aria-current': isChosen ? 'true' : undefined,
        click: () => {
          const tab = this.tab();
          if (tab !== undefined) link.href = linkToHandler(kind, name, tab);
        },
      },
      h('span', name),
      missing && h('small', 'not listed'),
      kind !== 'tool' && h('small', kind),
    );
    this.links.push(link);
    return link;
  }

  private move(event: KeyboardEvent): void {
    const place = this.links.indexOf(document.activeElement as HTMLAnchorElement);
    const isInList = place >= 0;
    const last = this.links.length - 1;
    const next = {
      ArrowDown: Math.min(place + 1, last),
      ArrowUp: place - 1,
      ...(isInList && { Home: 0, End: last }),
    }[event.key];
    if (next !== undefined && last >= 0) {
      event.preventDefault();
      if (next < 0) this.filter.focus();
      else this.links[next].focus();
    } else if (event.key === 'Enter' && !isInList) {
      this.links[0]?.click();
    } else if (isInList && /^[\w]$/.test(event.key) && !event.ctrlKey && !event.metaKey && !event.altKey) {
      // The letter arrives in the field, which has the focus now.
      this.filter.value = '';
      this.filter.focus();
    }
  }
}
