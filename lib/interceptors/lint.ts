import type { ChainEntry } from './chain/entry.js';
import { matchesEvent } from './protocol/events.js';

/** The events that the protocol defines, and what this module hooks beside them. */
const EVENTS = [
  'tools/list',
  'tools/call',
  'prompts/list',
  'prompts/get',
  'resources/list',
  'resources/read',
  'resources/subscribe',
  'completion/complete',
  'sampling/createMessage',
  'elicitation/create',
  'roots/list',
  'llm/completion',
];

const NAMESPACES = new Set(EVENTS.map(event => event.split('/', 1)[0]));

/** What looks like a mistake in a chain, though it can be run: each a sentence for the log. */
export function lint(entries: readonly ChainEntry[]): string[] {
  return [...entries.flatMap(neverMatching), ...entries.flatMap(failingOpen), ...unseenMutations(entries)];
}

/** A custom event may have any name, but not one in a namespace of the protocol's. */
function neverMatching({ descriptor: { name, hooks } }: ChainEntry): string[] {
  const unknown = hooks
    .flatMap(({ events }) => events)
    .filter(
      event => NAMESPACES.has(event.split('/', 1)[0]) && !EVENTS.some(known => matchesEvent(event, known)),
    );
  return unknown.map(event => `${name} hooks ${event}, which never happens; events are ${EVENTS.join(', ')}`);
}

function failingOpen({ descriptor, overrides }: ChainEntry): string[] {
  const isActive = (overrides?.mode ?? descriptor.mode) !== 'audit';
  const failsOpen = overrides?.failOpen ?? descriptor.failOpen;
  return descriptor.type === 'validation' && isActive && failsOpen
    ? [`${descriptor.name} lets messages through unchecked when it crashes or times out (failOpen)`]
    : [];
}

/** A request is validated before it is mutated, so what a mutator brings in is seen by final validators alone. */
function unseenMutations(entries: readonly ChainEntry[]): string[] {
  const hooks = (entry: ChainEntry, event: string) =>
    entry.descriptor.hooks.some(
      hook => hook.phase === 'request' && hook.events.some(one => matchesEvent(one, event)),
    );
  return EVENTS.flatMap(event => {
    const hooked = entries.filter(entry => hooks(entry, event));
    const validators = hooked.filter(({ descriptor }) => descriptor.type === 'validation');
    const mutator = hooked.find(({ descriptor }) => descriptor.type === 'mutation');
    if (!mutator || validators.length === 0 || validators.some(({ traits }) => traits?.final)) return [];
    return [
      `no validator sees what ${mutator.descriptor.name} makes of a ${event} request; make one of them "final"`,
    ];
  });
}
