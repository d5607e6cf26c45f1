import type { Live, LiveCall, LiveServer } from '../api.js';
import { get } from './client.js';
import { alertOf, badge, fill, h, newId, table, type Child } from './dom.js';
import { PolledView } from './polled-view.js';
import { count, ms } from './values.js';

/** The latest calls and refusals, and what clients have open. */
export class LiveView extends PolledView {
  private readonly refusalsOnly = h('input', { type: 'checkbox', id: newId() });
  private readonly place = h('div');

  protected async build(): Promise<Node[]> {
    this.refusalsOnly.addEventListener('change', () => void this.refresh());
    await this.refresh();
    return [
      h('h2', 'Live'),
      h(
        'div.row',
        this.toggle,
        h('label.check', { for: this.refusalsOnly.id }, this.refusalsOnly, ' Refusals and errors only'),
      ),
      this.place,
    ];
  }

  protected async refresh(): Promise<void> {
    try {
      const { calls, total, servers } = await get<Live>('live');
      const own = calls.filter(({ server }) => server === this.server.name);
      const shown = this.refusalsOnly.checked ? own.filter(({ outcome }) => isFailure(outcome)) : own;
      fill(
        this.place,
        openView(servers.find(({ server }) => server === this.server.name)),
        h('p', `${count(total, 'call')} of all servers since the start; the latest are listed`),
        shown.length > 0 ? callsView(shown) : h('p.hint', 'No calls yet.'),
      );
    } catch (error) {
      fill(this.place, alertOf(error));
    }
  }
}

const isFailure = (outcome: LiveCall['outcome']): boolean => outcome !== 'ok' && outcome !== 'asked';

function openView(server: LiveServer | undefined): HTMLElement {
  const terms = (title: string, values: Readonly<Record<string, number>>): Child =>
    Object.entries(values).map(([name, value]) => h('div', h('dt', `${title}${name}`), h('dd', value)));
  return h('dl', terms('Open ', server?.open ?? {}), terms('Refused with ', server?.refusals ?? {}));
}

const callsView = (calls: readonly LiveCall[]): HTMLElement =>
  table(
    'Latest calls',
    {
      Call: ({ method, name }) => [h('code', method), ' ', name],
      Outcome: ({ outcome, code }) => [
        badge(outcome, isFailure(outcome) ? 'deny' : 'pass'),
        code && ` ${code}`,
      ],
      Took: ({ durationMs }) => ms(durationMs),
      At: ({ at }) => h('time', { datetime: at }, at.slice(11, 23)),
      Era: ({ era }) => era ?? '–',
      'Asked by': ({ side }) => (side === 'client' ? 'server' : 'client'),
    },
    calls,
  );
