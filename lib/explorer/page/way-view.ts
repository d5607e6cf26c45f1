import type { ChainInterceptor, ChainPhase, Kind, ServerChain, Step } from '../api.js';
import { badge, h, type Child } from './dom.js';
import type { Item } from './items.js';
import { interceptorLink } from './links.js';
import { conditionText, count, isRecord, jsonIn, ms } from './values.js';

const EVENTS: Readonly<Partial<Record<Kind, string>>> = {
  tool: 'tools/call',
  prompt: 'prompts/get',
  resource: 'resources/read',
  'resource template': 'resources/read',
  completion: 'completion/complete',
};

const STEPS = [
  ['validators', 'Validators'],
  ['mutators', 'Mutators'],
  ['final validators', 'Final validators'],
] as const;

interface Stage {
  readonly title: string;
  readonly nodes: readonly Child[];
}

/** The way of a message of a handler: to its method and back, with the sinks at the side. */
export function wayView({ kind, name, entry }: Item, chain: ServerChain | undefined): HTMLElement {
  const event = EVENTS[kind] ?? name;
  const byId = new Map(chain?.interceptors.map(one => [one.id, one]));
  const phase = (wanted: ChainPhase['phase']) =>
    chain?.phases.find(one => one.event === event && one.phase === wanted);
  const turnsOf = (wanted: ChainPhase['phase'], step: string): ChainInterceptor[] =>
    (phase(wanted)?.order ?? [])
      .filter(turn => turn.step === step)
      .flatMap(({ id }) => byId.get(id) ?? [])
      .filter(one => mayRun(one, name));
  const stagesOf = (wanted: ChainPhase['phase']): Stage[] => {
    const steps = phase(wanted)?.direction === 'send' ? [STEPS[1], STEPS[0]] : STEPS;
    return steps.map(([step, title]) => ({ title, nodes: turnsOf(wanted, step).map(interceptorNode) }));
  };
  const nest = (title: string, is: (step: Step) => boolean): Stage => ({
    title,
    nodes: (entry?.steps ?? []).filter(is).map(stepNode),
  });
  const method = entry && entry.className !== '' ? `${entry.className}.${entry.methodName}()` : 'The backend';
  const stages = [
    ...stagesOf('request'),
    nest('Global guards', one => one.kind === 'guard' && one.level === 'global'),
    nest('Guards', one => one.kind === 'guard' && one.level !== 'global'),
    nest('Nest interceptors', one => one.kind === 'interceptor'),
    nest('Pipes', one => one.kind === 'pipe'),
    {
      title: entry?.className === '' ? 'Answered by' : 'Method',
      nodes: [h('div.node.method', h('code', entry?.className === '' ? 'nestjs-mcp' : method))],
    },
  ];
  const back = stagesOf('response');
  const sinks = [...new Set([...turnsOf('request', 'sinks'), ...turnsOf('response', 'sinks')])];
  const filters = (entry?.steps ?? []).filter(one => one.kind === 'filter');
  return h(
    'section.way',
    { 'aria-label': 'Way of a call' },
    h('h3', 'Way of a call'),
    h(
      'div.lanes',
      h(
        'div',
        stagesView('Request', stages),
        back.some(({ nodes }) => nodes.length > 0) && stagesView('Response', back),
      ),
      (sinks.length > 0 || filters.length > 0) &&
        h(
          'div.beside',
          { role: 'group', 'aria-label': 'Beside the way' },
          sinks.length > 0 && [h('h4', 'Sinks, without waiting'), sinks.map(interceptorNode)],
          filters.length > 0 && [h('h4', 'Filters, if something throws'), filters.map(stepNode)],
        ),
    ),
  );
}

const stagesView = (label: string, stages: readonly Stage[]): HTMLElement =>
  h(
    'ol.stages',
    { 'aria-label': label },
    stages
      .filter(({ nodes }) => nodes.length > 0)
      .map(({ title, nodes }) => h('li', h('h4', title), h('div.nodes', nodes))),
  );

/** An interceptor whose condition names another handler never runs here. */
function mayRun({ when }: ChainInterceptor, name: string): boolean {
  const condition = jsonIn(when?.value);
  const wanted = isRecord(condition) ? condition['name'] : undefined;
  const names: readonly unknown[] = Array.isArray(wanted) ? wanted : [wanted];
  return !names.every(one => typeof one === 'string' && !one.includes('*')) || names.includes(name);
}

/** A name, and whatever differs from the defaults. */
function interceptorNode({ id, mode, failOpen, timeoutMs, when, counters }: ChainInterceptor): HTMLElement {
  const differs = (text: string, from: string) =>
    h('span.differs', text, from !== 'declared' && h('small', from));
  return h(
    'div.node',
    interceptorLink(id),
    h(
      'span.notes',
      mode.value === 'audit' && badge(mode.from === 'declared' ? 'audit' : `audit · ${mode.from}`, 'audit'),
      failOpen?.value === true && differs('fails open', failOpen.from),
      timeoutMs.from !== 'default' && differs(`within ${ms(timeoutMs.value)}`, timeoutMs.from),
      when && h('small', `if ${conditionText(when.value)}`),
    ),
    counters.runs > 0 &&
      h('small.counters', h('span', count(counters.runs, 'run')), ' ', h('span', `p99 ${ms(counters.p99)}`)),
  );
}

const stepNode = ({ name, level, parameter }: Step): HTMLElement =>
  h(
    'div.node',
    h('code', name),
    level !== 'global' && h('small', parameter === undefined ? level : `parameter ${parameter + 1}`),
  );
