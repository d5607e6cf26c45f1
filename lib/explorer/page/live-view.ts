import type { Live, LiveCall, LiveServer } from '../api.js';
import { get } from './client.js';
import { badge, fill, h, labelled, newId, select, table, type Child } from './dom.js';
import { isFailure, outcomeBadge } from './outcome.js';
import { PolledView } from './polled-view.js';
import { KIND_OF, linkToHandler } from './route.js';
import { sparkline } from './sparkline.js';
import { count, localTime, ms } from './values.js';

const ALL = ['', 'All'] as const;

/** The names of what clients have open, as people say them. */
const OPEN: Readonly<Record<string, string>> = {
  hanging: 'handlers after their call',
  inputRequests: 'elicitations',
  listeners: 'streams',
  eventStore: 'stored events',
  runningTasks: 'running tasks',
};

const checkbox = (isChecked: boolean) => h('input', { type: 'checkbox', id: newId(), checked: isChecked });

/** The latest calls and refusals, and what clients have open. */
export class LiveView extends PolledView {
  private readonly text = h('input', {
    type: 'search',
    autocomplete: 'off',
    placeholder: 'Method or handler',
  });
  private readonly caller = select([ALL]);
  private readonly outcome = select([ALL, ['failed', 'Refusals and errors'], ['fine', 'Without errors']]);
  private readonly own = checkbox(true);
  private readonly figures = h('div');
  private readonly place = h('div');
  private live?: Live;

  protected async build(): Promise<Child[]> {
    for (const field of [this.text, this.caller, this.outcome, this.own]) {
      field.addEventListener('input', () => this.draw());
    }
    await this.refresh();
    return [
      h(
        'div.page',
        h('div.row.apart', h('h2', 'Live'), this.toggle),
        this.lost,
        this.figures,
        h(
          'div.row.filters',
          labelled('Method or handler', this.text),
          labelled('Caller', this.caller),
          labelled('Outcome', this.outcome),
          h('label.check', { for: this.own.id }, this.own, 'Hide calls of this page'),
        ),
        this.place,
      ),
    ];
  }

  protected async refresh(): Promise<void> {
    this.live = await get<Live>('live');
    this.draw();
  }

  private draw(): void {
    const { live } = this;
    if (!live) return;
    const { name } = this.state.server;
    const calls = live.calls.filter(({ server }) => server === name);
    this.offerCallers(calls);
    const shown = calls.filter(call => this.isWanted(call));
    fill(this.figures, figuresOf(live.servers.find(({ server }) => server === name)));
    const hidden = calls.length - shown.length;
    fill(
      this.place,
      shown.length > 0
        ? callsView(shown)
        : h(
            'p.empty',
            hidden > 0
              ? `No call matches the filters, which hide ${count(hidden, 'call')}.`
              : 'No calls yet.',
          ),
      hidden > 0 && shown.length > 0 && h('p.hint', `${count(hidden, 'call')} hidden by the filters`),
    );
  }

  private offerCallers(calls: readonly LiveCall[]): void {
    const { value } = this.caller;
    const names = [...new Set(calls.map(({ caller }) => caller ?? 'anonymous'))].sort();
    const known = Array.from(this.caller.options, option => option.value).slice(1);
    if (names.join('\n') === known.join('\n')) return;
    fill(
      this.caller,
      h('option', { value: '' }, 'All'),
      ...names.map(one => h('option', { value: one }, one)),
    );
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

function figuresOf(server: LiveServer | undefined): Child {
  if (!server) return undefined;
  const { open, refusals, callers, traffic } = server;
  const figure = (term: string, value: number) =>
    h('div', h('dt', term), h(value === 0 ? 'dd.number.none' : 'dd.number', value));
  const named = Object.entries(open).map(([name, value]) => figure(`Open ${OPEN[name] ?? name}`, value));
  const names = Object.keys(open).filter(name => callers.some(one => one.open[name] !== undefined));
  return [
    h(
      'div.overview',
      sparkline(traffic),
      h(
        'dl.figures',
        named,
        Object.entries(refusals).map(([status, value]) => figure(`Refused with ${status}`, value)),
      ),
    ),
    callers.length > 0 &&
      table(
        'Open by caller',
        {
          Caller: ({ caller }) => caller,
          ...Object.fromEntries(
            names.map(name => [
              OPEN[name] ?? name,
              (row: LiveServer['callers'][number]) => h('span.number', row.open[name] ?? ''),
            ]),
          ),
        },
        callers,
      ),
  ];
}

const callsView = (calls: readonly LiveCall[]): HTMLElement =>
  table(
    'Latest calls',
    {
      At: ({ at }) => h('time.number', { datetime: at }, localTime(at)),
      Method: ({ method, isOwn, side }) => [
        h('code', method),
        isOwn && badge('this page'),
        side === 'client' && badge('from the server'),
      ],
      Handler: ({ method, name }) => {
        const kind = KIND_OF[method];
        return kind && name !== undefined ? h('a', { href: linkToHandler(kind, name) }, name) : (name ?? '');
      },
      Caller: ({ caller }) => caller ?? h('span.hint', 'anonymous'),
      Outcome: ({ outcome, code }) => [
        outcomeBadge(outcome),
        code !== undefined && h('small.number', ` ${code}`),
      ],
      Took: ({ durationMs }) => h('span.number', ms(durationMs)),
      Revision: ({ era }) => (era === 'modern' ? '2026-07-28' : era === 'legacy' ? '2025' : ''),
    },
    calls,
  );
