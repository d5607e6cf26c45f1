import type {
  ChainHost,
  ChainInterceptor,
  ChainPhase,
  ChainTurn,
  Chains,
  MethodStage,
  ServerChain,
  Sourced,
} from '../api.js';
import { get } from './client.js';
import { badge, fill, h, labelled, select, table, type Child } from './dom.js';
import { count, ms } from './values.js';
import { View } from './view.js';

interface Row {
  readonly interceptor: ChainInterceptor;
  readonly turn?: ChainTurn;
}

/** The interceptors of an event and phase, in the order in which they run. */
export class ChainView extends View {
  protected async build(): Promise<Node[]> {
    const { servers } = await get<Chains>('chain');
    const chain = servers.find(({ server }) => server === this.server.name);
    const heading = h('h2', 'Chain');
    const stages = chain && stagesView(chain.stages);
    if (!chain || chain.interceptors.length === 0) {
      return [heading, h('p', 'No validators, mutators or sinks run around this server.'), ...(stages ?? [])];
    }
    const chooser = select([
      ...chain.phases.map((phase, index) => [String(index), phaseText(phase)] as const),
      ['all', 'All interceptors, in no order'],
    ]);
    // The fullest phase says most.
    const lengths = chain.phases.map(({ order }) => order.length);
    if (lengths.length > 0) chooser.value = String(lengths.indexOf(Math.max(...lengths)));
    const place = h('div');
    const show = () => fill(place, this.phaseView(chain, chain.phases[Number(chooser.value)]));
    chooser.addEventListener('change', show);
    show();
    return [
      heading,
      labelled('Event and phase', chooser),
      place,
      hostsView(chain.hosts),
      ...stagesView(chain.stages),
    ];
  }

  private phaseView(chain: ServerChain, phase: ChainPhase | undefined): HTMLElement {
    const byId = new Map(chain.interceptors.map(interceptor => [interceptor.id, interceptor]));
    const rows: Row[] = phase
      ? phase.order.flatMap(turn => {
          const interceptor = byId.get(turn.id);
          return interceptor ? [{ interceptor, turn }] : [];
        })
      : chain.interceptors.map(interceptor => ({ interceptor }));
    const caption = phase ? `Interceptors of ${phaseText(phase)}` : 'All interceptors';
    return table(
      caption,
      {
        Interceptor: ({ interceptor }, index) => nameOf(interceptor, phase && index + 1),
        Step: ({ turn, interceptor }) => turn?.step ?? interceptor.type,
        Mode: ({ interceptor: { mode } }) => sourced(mode, value => badge(value, value)),
        'If it fails': ({ interceptor }) => failureOf(interceptor),
        Priority: ({ interceptor: { priority } }) => sourced(priority, priorityText(phase)),
        'Time limit': ({ interceptor: { timeoutMs } }) => sourced(timeoutMs, ms),
        Hooks: ({ interceptor: { hooks } }) => sourced(hooks, hooksText),
        'Skipped if': ({ turn, interceptor }) => skippedText(interceptor, turn),
        Runs: ({ interceptor }) => runsText(interceptor),
        p50: ({ interceptor: { counters } }) => ms(counters.p50),
        p99: ({ interceptor: { counters } }) => ms(counters.p99),
      },
      rows,
    );
  }
}

/** What extensions of the application run around each method. */
const stagesView = (stages: readonly MethodStage[]): Node[] =>
  stages.length === 0
    ? []
    : [
        h('h3', 'Stages of extensions'),
        table(
          'Stages by method, in running order',
          {
            Method: ({ method }) => h('code', method),
            Place: ({ place }) => place,
            Extension: ({ extension }) => h('code', extension),
            Eras: ({ eras }) => eras.join(', '),
          },
          stages,
        ),
      ];

const phaseText = ({ event, phase, direction }: ChainPhase): string => `${event} · ${phase} · ${direction}`;

/** A value with where it comes from. */
const sourced = <T>({ value, from }: Sourced<T>, text: (value: T) => Child): Child => [
  text(value),
  h('small', from),
];

const failureOf = ({ failOpen }: ChainInterceptor): Child =>
  failOpen ? sourced(failOpen, value => (value ? 'fail open' : 'fail closed')) : 'message unaffected';

const priorityText =
  (phase: ChainPhase | undefined) =>
  ({ request, response }: { request: number; response: number }): string =>
    phase ? String(phase.phase === 'request' ? request : response) : `${request} / ${response}`;

const hooksText = (hooks: ChainInterceptor['hooks']['value']): Child =>
  hooks.map(({ events, phase }) => h('div', `${events.join(', ')} · ${phase}`));

function nameOf(interceptor: ChainInterceptor, place: number | undefined): Child {
  const { id, description, mode, counters, config, final, compat, failOpen: _ } = interceptor;
  const facts = [
    config && `configured (${config})`,
    final && (final === 'only' ? 'runs on the changed payload only' : 'runs again on the changed payload'),
    compat && `compat ${compat}`,
  ].filter(Boolean);
  return [
    h('code', place === undefined ? id : `${place}. ${id}`),
    description && h('small', description),
    facts.length > 0 && h('small', facts.join('; ')),
    mode.value === 'audit' &&
      h(
        'small.audit-text',
        `In audit mode: would have refused ${count(counters.wouldRefuse, 'message')} and changed ${counters.wouldChange}`,
      ),
  ];
}

function skippedText({ when, counters }: ChainInterceptor, turn: ChainTurn | undefined): Child {
  const counts = Object.entries(counters.skipped).map(([reason, number]) => `${number} × ${reason}`);
  return [
    turn?.skippedIf ?? (when ? `when ${when.value}` : '–'),
    when && h('small', when.from),
    counts.length > 0 && h('small', counts.join(', ')),
  ];
}

function runsText({ counters }: ChainInterceptor): Child {
  const outcomes = Object.entries(counters.outcomes).map(([outcome, number]) => `${number} ${outcome}`);
  if (counters.failedOpen > 0) outcomes.push(`${counters.failedOpen} failed open`);
  return [counters.runs, outcomes.length > 0 && h('small', outcomes.join(', '))];
}

function hostsView(hosts: readonly ChainHost[]): HTMLElement {
  if (hosts.length === 0) return h('p.hint', 'No remote interceptor hosts.');
  return table(
    'Remote interceptor hosts',
    {
      Host: ({ name }) => name,
      Connection: ({ state }) => badge(state, state),
      'Circuit breaker': ({ breaker }) => badge(breaker, breaker),
      Interceptors: ({ interceptors }) => interceptors,
    },
    hosts,
  );
}
