import type { ChainHost, ChainInterceptor, ChainPhase, MethodStage, ServerChain, Sourced } from '../api.js';
import { badge, figure, fill, h, placeLink, reveal, select, table, type Child } from './dom.js';
import { interceptorLink } from './links.js';
import { linkTo, type Route } from './route.js';
import { conditionText, count, ms, revisionsOf, shortId } from './values.js';
import { View } from './view.js';

/** The place of the orders, in the place of an interceptor. */
const ALL = 'all';

const TYPES = [
  ['validation', 'Validators'],
  ['mutation', 'Mutators'],
  ['sink', 'Sinks'],
] as const;

/** The interceptors of the server: a list beside the chosen one, or the order of an event. */
export class ChainView extends View {
  private chain?: ServerChain;
  private readonly list = h('nav.list', { 'aria-label': 'Interceptors' });
  private readonly detail = h('section.detail', { 'aria-label': 'Interceptor', tabindex: -1 });

  protected async build(): Promise<Child[]> {
    this.chain = await this.state.chain();
    if (!this.chain || this.chain.interceptors.length === 0) {
      return [
        h(
          'div.page',
          h('h2', 'Interceptors'),
          h('p.empty', 'No validators, mutators or sinks run around this server.'),
          this.chain && stagesView(this.chain.stages),
        ),
      ];
    }
    return [h('div.split', h('div.side', this.list), this.detail)];
  }

  protected override show({ rest: [id] }: Route): void {
    const { chain } = this;
    if (!chain || chain.interceptors.length === 0) return;
    this.classList.toggle('has-item', id !== undefined);
    const chosen = chain.interceptors.find(one => one.id === id);
    const links = (type: string) => chain.interceptors.filter(one => one.type === type);
    fill(
      this.list,
      placeLink(linkTo(['chain', ALL]), !chosen, 'By event and phase'),
      TYPES.filter(([type]) => links(type).length > 0).map(([type, title]) =>
        h(
          'section',
          h('h2', title, ' ', h('span.number', links(type).length)),
          h('ul', ...links(type).map(one => h('li', linkOf(one, one === chosen)))),
        ),
      ),
    );
    reveal(this.list.querySelector('[aria-current]'), this.list);
    fill(
      this.detail,
      h('a.back', { href: linkTo(['chain']) }, '‹ All interceptors'),
      chosen ? detailOf(chosen, chain) : orderView(chain),
    );
    this.detail.scrollTop = 0;
  }
}

const linkOf = ({ id, mode, counters }: ChainInterceptor, isChosen: boolean): HTMLElement =>
  placeLink(
    linkTo(['chain', id]),
    isChosen,
    h('span', shortId(id)),
    mode.value === 'audit' && badge('audit', 'audit'),
    counters.runs > 0 && h('small.number', counters.runs),
  );

const phaseText = ({ event, phase }: ChainPhase): string => `${event} · ${phase}`;

/** What runs for an event and phase, in running order. */
function orderView(chain: ServerChain): Child[] {
  const chooser = select(
    chain.phases.map((phase, index) => [String(index), phaseText(phase)]),
    'Event and phase',
  );
  const lengths = chain.phases.map(({ order }) => order.length);
  // The fullest phase says most.
  chooser.value = String(lengths.indexOf(Math.max(...lengths)));
  const byId = new Map(chain.interceptors.map(one => [one.id, one]));
  const place = h('div');
  const show = () => {
    const phase = chain.phases[Number(chooser.value)];
    const rows = phase.order.map(turn => ({ turn, interceptor: byId.get(turn.id)! }));
    fill(
      place,
      table(
        `Interceptors of ${phaseText(phase)}`,
        {
          '#': (_, index) => h('span.number', index + 1),
          Interceptor: ({ interceptor: { id } }) => interceptorLink(id),
          Step: ({ turn }) => turn.step,
          Mode: ({ interceptor: { mode } }) => [
            mode.value === 'audit' ? badge('audit', 'audit') : h('small', mode.value),
            source(mode),
          ],
          'Skipped if': ({ turn }) => h('small', turn.skippedIf ?? ''),
          Runs: ({ interceptor: { counters } }) => h('span.number', counters.runs),
          p99: ({ interceptor: { counters } }) => h('span.number', ms(counters.p99)),
        },
        rows,
      ),
    );
  };
  chooser.addEventListener('change', show);
  if (chain.phases.length > 0) show();
  return [
    h('div.row.apart', h('h2', 'Interceptors'), chain.phases.length > 0 && chooser),
    place,
    hostsView(chain.hosts),
    stagesView(chain.stages),
  ];
}

/** Where a value comes from, unless its class declares it or it is the default. */
const source = ({ from }: Sourced<unknown>): Child =>
  (from === 'override' || from === 'policy file') && h('small.differs', ` ${from}`);

function detailOf(one: ChainInterceptor, chain: ServerChain): Child[] {
  const { id, type, description, mode, failOpen, priority, timeoutMs, hooks, when, config, final, compat } =
    one;
  const { counters } = one;
  const fact = (term: string, value: Child, sourced?: Sourced<unknown>) =>
    h(
      'div',
      { class: sourced?.from === 'default' ? 'quiet' : '' },
      h('dt', term),
      h('dd', value, sourced && h('small', ` ${sourced.from}`)),
    );
  const { request, response } = priority.value;
  return [
    h(
      'header',
      h('h2', h('span.mono', shortId(id)), ' ', badge(type)),
      description !== undefined && h('p', description),
    ),
    mode.value === 'audit' &&
      h(
        'p.caution',
        `In audit mode: would have refused ${count(counters.wouldRefuse, 'message')} and changed ${counters.wouldChange}.`,
      ),
    h(
      'dl.facts',
      fact('Mode', mode.value, mode),
      failOpen &&
        fact('If it fails', failOpen.value ? 'the message passes' : 'the message is refused', failOpen),
      fact(
        'Priority',
        request === response ? request : `${request} for requests, ${response} for responses`,
        priority,
      ),
      fact('Time limit', ms(timeoutMs.value), timeoutMs),
      when && fact('When', conditionText(when.value), when),
      config !== undefined && fact('Configuration', config),
      final &&
        fact(
          'Final',
          final === 'only' ? 'runs on the changed payload only' : 'runs again on the changed payload',
        ),
      compat !== undefined && fact('Revisions', compat),
      fact(
        'Hooks',
        hooks.value.map(({ events, phase }) => h('div', `${events.join(', ')} · ${phase}`)),
        hooks,
      ),
    ),
    h('h3', 'Runs since the start'),
    countersView(one),
    h('h3', 'Where it runs'),
    positions(id, chain),
  ];
}

function countersView({ counters }: ChainInterceptor): HTMLElement {
  const { runs, outcomes, skipped, failedOpen, p50, p99 } = counters;
  if (runs === 0 && Object.keys(skipped).length === 0) return h('p.empty', 'It has not run yet.');
  return h(
    'dl.figures',
    figure('Runs', runs),
    ...Object.entries(outcomes).map(([outcome, number]) => figure(outcome, number)),
    failedOpen > 0 && figure('failed open', failedOpen),
    ...Object.entries(skipped).map(([reason, number]) => figure(`skipped: ${reason}`, number)),
    figure('p50', ms(p50)),
    figure('p99', ms(p99)),
  );
}

const positions = (id: string, chain: ServerChain): HTMLElement =>
  h(
    'ul.positions',
    chain.phases
      .filter(({ order }) => order.some(turn => turn.id === id))
      .map(phase =>
        h(
          'li',
          h('span', phaseText(phase)),
          h(
            'ol',
            { 'aria-label': phaseText(phase) },
            phase.order.map(turn =>
              h(
                'li',
                { class: turn.id === id ? 'own' : '' },
                h('a', { href: linkTo(['chain', turn.id]) }, shortId(turn.id)),
              ),
            ),
          ),
        ),
      ),
  );

const stagesView = (stages: readonly MethodStage[]): Child =>
  stages.length > 0 && [
    h('h3', 'Stages of extensions'),
    table(
      'Stages by method, in running order',
      {
        Method: ({ method }) => h('code', method),
        Place: ({ place }) => place,
        Extension: ({ extension }) => h('code', extension),
        Revisions: ({ eras }) => (eras.length > 1 ? 'all' : revisionsOf(eras[0])),
      },
      stages,
    ),
  ];

const hostsView = (hosts: readonly ChainHost[]): Child =>
  hosts.length > 0 &&
  table(
    'Remote interceptor hosts',
    {
      Host: ({ name }) => name,
      Connection: ({ state }) => badge(state, state),
      'Circuit breaker': ({ breaker }) => badge(breaker, breaker),
      Interceptors: ({ interceptors }) => h('span.number', interceptors),
    },
    hosts,
  );
