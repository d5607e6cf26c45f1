import type { Live, LiveCall, LiveServer, OpenList } from '../api.js';
import { get } from './client.js';
import {
  badge,
  figure,
  fill,
  h,
  isFailure,
  labelled,
  outcomeBadge,
  placeLink,
  select,
  table,
  time,
  type Child,
} from './dom.js';
import { handlerLink } from './links.js';
import { PolledView } from './polled-view.js';
import { KIND_OF, linkTo, type Route } from './route.js';
import { sparkline } from './sparkline.js';
import { count, ms } from './values.js';

const ALL = ['', 'All'] as const;

/** The names of what is open, as people say them. */
const OPEN: Readonly<Record<string, string>> = {
  hanging: 'handlers after their call',
  inputRequests: 'elicitations',
  listeners: 'streams',
  eventStore: 'stored events',
  runningTasks: 'running tasks',
};

const LISTS = ['sessions', 'streams'] as const;
const TABS = ['', ...LISTS, 'callers'] as const;

/** The latest calls and refusals, and what clients have open. */
export class LiveView extends PolledView {
  private readonly text = h('input', {
    type: 'search',
    autocomplete: 'off',
    placeholder: 'Method or handler',
  });
  private readonly caller = select([ALL]);
  private readonly outcome = select([ALL, ['failed', 'Refusals and errors'], ['fine', 'Without errors']]);
  private readonly own = h('input', { type: 'checkbox', checked: true });
  private readonly figures = h('div');
  private readonly tabs = h(
    'nav.tabs',
    { 'aria-label': 'Live' },
    TABS.map(tab => placeLink(linkTo(['live', ...(tab === '' ? [] : [tab])]), false)),
  );
  private readonly filters = h('div.row.filters');
  private readonly place = h('div');
  private tab = '';
  private live?: Live;

  protected async build(): Promise<Child[]> {
    for (const field of [this.text, this.caller, this.outcome, this.own]) {
      field.addEventListener('input', () => this.draw());
    }
    fill(
      this.filters,
      labelled('Method or handler', this.text),
      labelled('Caller', this.caller),
      labelled('Outcome', this.outcome),
      h('label.check', this.own, 'Hide calls of this page'),
    );
    await this.refresh();
    return [
      h(
        'div.page',
        h('div.row.apart', h('h2', 'Live'), this.toggle),
        this.lost,
        this.figures,
        this.tabs,
        this.filters,
        this.place,
      ),
    ];
  }

  protected override show({ rest: [tab = ''] }: Route): void {
    this.tab = tab;
    this.draw();
  }

  protected async refresh(): Promise<void> {
    this.live = await get<Live>('live');
    this.draw();
  }

  private draw(): void {
    const { live, tab } = this;
    const { name } = this.state.server;
    const server = live?.servers.find(one => one.server === name);
    if (!live || !server) return;
    const calls = live.calls.filter(call => call.server === name);
    this.offerCallers(calls);
    fill(this.figures, figuresOf(server));
    this.drawTabs(server);
    this.filters.hidden = tab !== '';
    const list = LISTS.find(one => one === tab);
    if (list) fill(this.place, openView(list, server.lists[list]));
    else if (tab === 'callers') fill(this.place, callersView(server));
    else fill(this.place, this.callsOf(calls));
  }

  /** The links stay, so that they keep the focus. */
  private drawTabs({ lists, callers }: LiveServer): void {
    const sizes: Readonly<Record<string, number>> = {
      sessions: lists.sessions.rows.length + lists.sessions.more,
      streams: lists.streams.rows.length + lists.streams.more,
      callers: callers.length,
    };
    for (const [index, tab] of TABS.entries()) {
      const link = this.tabs.children[index];
      if (tab === this.tab) link.setAttribute('aria-current', 'page');
      else link.removeAttribute('aria-current');
      fill(link, capital(tab || 'calls'), tab in sizes && h('small.number', ` ${sizes[tab]}`));
    }
  }

  private callsOf(calls: readonly LiveCall[]): Child {
    const shown = calls.filter(call => this.isWanted(call));
    const hidden = calls.length - shown.length;
    if (shown.length > 0) {
      return [callsView(shown), hidden > 0 && h('p.hint', `${count(hidden, 'call')} hidden by the filters`)];
    }
    const why =
      hidden > 0 ? `No call matches the filters, which hide ${count(hidden, 'call')}.` : 'No calls yet.';
    return h('p.empty', why);
  }

  private offerCallers(calls: readonly LiveCall[]): void {
    const { value } = this.caller;
    const names = [...new Set(calls.map(({ caller }) => caller ?? 'anonymous'))].sort();
    const known = Array.from(this.caller.options, option => option.value).slice(1);
    if (names.join('\n') === known.join('\n')) return;
    fill(this.caller, ...select([ALL, ...names.map(one => [one, one] as const)]).options);
    this.caller.value = names.includes(value) ? value : '';
  }

  private isWanted({ method, name = '', caller = 'anonymous', outcome, isOwn }: LiveCall): boolean {
    const isFailed = isFailure(outcome);
    return (
      `${method} ${name}`.toLowerCase().includes(this.text.value.toLowerCase()) &&
      (this.caller.value === '' || this.caller.value === caller) &&
      (this.outcome.value === '' || this.outcome.value === (isFailed ? 'failed' : 'fine')) &&
      !(this.own.checked && isOwn)
    );
  }
}

const capital = (text: string): string => text[0].toUpperCase() + text.slice(1);

function figuresOf({ open, refusals, traffic }: LiveServer): Child {
  return h(
    'div.overview',
    sparkline(traffic),
    h(
      'dl.figures',
      { 'aria-label': 'Open now' },
      Object.entries(open).map(([name, value]) => figure(capital(OPEN[name] ?? name), value)),
      Object.entries(refusals).map(([status, value]) => figure(`Refused with ${status}`, value)),
    ),
  );
}

function openView(title: string, { rows, more }: OpenList): Child {
  if (rows.length === 0) return h('p.empty', `No client has open ${title}.`);
  return [
    table(
      `Open ${title}`,
      {
        Caller: ({ caller }) => caller,
        Session: ({ session }) => session !== undefined && h('code', `${session}…`),
        Revision: ({ revision }) => h('span.date', revision ?? ''),
        Since: ({ since }) => time(since),
        'Last message': ({ lastMessageAt }) => (lastMessageAt === undefined ? '–' : time(lastMessageAt)),
      },
      rows,
    ),
    more > 0 && h('p.hint', `and ${count(more, 'older one')}`),
  ];
}

function callersView({ open, callers }: LiveServer): Child {
  if (callers.length === 0) return h('p.empty', 'No caller has anything open.');
  const names = Object.keys(open).filter(name => callers.some(one => one.open[name] !== undefined));
  const cells = names.map(name => {
    const cell = (row: LiveServer['callers'][number]) => h('span.number', row.open[name] ?? '');
    return [capital(OPEN[name] ?? name), cell] as const;
  });
  return table('Open by caller', { Caller: ({ caller }) => caller, ...Object.fromEntries(cells) }, callers);
}

const callsView = (calls: readonly LiveCall[]): HTMLElement =>
  table(
    'Latest calls',
    {
      At: ({ at }) => time(at),
      Method: ({ method, isOwn, side }) => [
        h('code', method),
        isOwn && badge('this page'),
        side === 'client' && badge('from the server'),
      ],
      Handler: ({ method, name }) => {
        const kind = KIND_OF[method];
        return kind && name !== undefined ? handlerLink(kind, name) : (name ?? '');
      },
      Caller: ({ caller }) => caller ?? h('span.hint', 'anonymous'),
      Outcome: ({ outcome, code }) => [
        outcomeBadge(outcome),
        code !== undefined && h('small.number', ` ${code}`),
      ],
      Took: ({ durationMs }) => h('span.number', ms(durationMs)),
      Revision: ({ era }) => h('span.date', era === 'modern' ? '2026-07-28' : era === 'legacy' ? '2025' : ''),
    },
    calls,
  );
