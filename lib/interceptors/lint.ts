import type { ChainEntry } from './chain/entry.js';
import { DEFAULT_TIMEOUT_MS, MAX_TIMEOUT_MS } from './chain/params.js';
import {
  coversPattern,
  EVENT_OF,
  INPUT_EVENTS,
  isNotificationEvent,
  matchesEvent,
  NOTIFICATION_EVENTS,
} from './protocol/events.js';

/** The events that the protocol and this module know, in the order in which pages show them. */
export const EVENTS: readonly string[] = [
  ...new Set(Object.values(EVENT_OF) as string[]),
  ...INPUT_EVENTS,
  'llm/completion',
  ...NOTIFICATION_EVENTS,
];

const NEVER_INTERCEPTED = [
  'initialize',
  'ping',
  'server/discover',
  'notifications/*',
  'interceptors/*',
  'interceptor/*',
  'logging/setLevel',
];

const NAMESPACES = new Set(
  EVENTS.filter(event => !isNotificationEvent(event)).map(event => event.split('/', 1)[0]),
);

/** Warnings about likely mistakes in a chain, for the log. */
export function lint(entries: readonly ChainEntry[], timeoutMs: number): string[] {
  return [
    ...entries.flatMap(neverMatching),
    ...entries.flatMap(neverAnswered),
    ...entries.flatMap(entry => failingOpen(entry, timeoutMs)),
    ...unseenMutations(entries),
  ];
}

/** Sentences about hooks that can never match. */
export const deadHooks = (entry: ChainEntry): string[] => [...neverMatching(entry), ...neverAnswered(entry)];

function neverMatching(entry: ChainEntry): string[] {
  const { name } = entry.descriptor;
  return [...new Set(hooksOf(entry).flatMap(({ events }) => events))]
    .filter(event => !EVENTS.some(known => matchesEvent(event, known)))
    .flatMap(event => {
      if (NEVER_INTERCEPTED.some(method => coversPattern(method, event)))
        return [`${name} hooks ${event}, which is never intercepted; events are ${EVENTS.join(', ')}`];
      if (event === 'subscriptions/listen')
        return [
          `${name} hooks ${event}, which is never intercepted; its resources are admitted as resources/subscribe`,
        ];
      const [namespace, ...operation] = event.split('/');
      if (NAMESPACES.has(namespace))
        return [`${name} hooks ${event}, which never happens; events are ${EVENTS.join(', ')}`];
      const meant = [`${namespace}s`, ...operation].join('/');
      return NAMESPACES.has(`${namespace}s`)
        ? [`${name} hooks ${event}, which is not an event of the protocol; did you mean ${meant}?`]
        : [];
    });
}

/** Checks only hooks by name, because `*` and `notifications/*` also cover other events or phases. */
function neverAnswered(entry: ChainEntry): string[] {
  const isHooked = (event: string, phase: string) =>
    hooksOf(entry).some(hook => hook.phase === phase && hook.events.includes(event));
  return NOTIFICATION_EVENTS.filter(event => isHooked(event, 'response') && !isHooked(event, 'request')).map(
    event =>
      `${entry.descriptor.name} hooks ${event} in the response phase, which never happens; a notification only has a request phase`,
  );
}

function failingOpen(entry: ChainEntry, timeoutMs: number): string[] {
  const { descriptor, overrides, traits } = entry;
  const { name, type } = descriptor;
  const failsOpen = overrides?.failOpen ?? descriptor.failOpen;
  if (type === 'sink' || !failsOpen || !isActive(entry)) return [];
  const own = Math.min(overrides?.timeoutMs ?? traits?.timeoutMs ?? DEFAULT_TIMEOUT_MS, MAX_TIMEOUT_MS);
  const unchecked = `${name} passes messages unchecked when it crashes or times out (failOpen)`;
  // After the deadline of the chain, `failOpen` does not apply.
  const late =
    `${name} fails open after ${own} ms, but "interceptors.timeoutMs" refuses messages after ${timeoutMs} ms; ` +
    'give it a shorter "timeoutMs"';
  return [...(type === 'validation' ? [unchecked] : []), ...(own >= timeoutMs ? [late] : [])];
}

/** A request is validated before it is mutated, so only final validators see the changes of mutators. */
function unseenMutations(entries: readonly ChainEntry[]): string[] {
  const hooks = (entry: ChainEntry, event: string) =>
    hooksOf(entry).some(
      hook => hook.phase === 'request' && hook.events.some(one => matchesEvent(one, event)),
    );
  // A notification is sent, so it is mutated first.
  return EVENTS.filter(event => !isNotificationEvent(event)).flatMap(event => {
    const hooked = entries.filter(entry => hooks(entry, event));
    const validators = hooked.filter(({ descriptor }) => descriptor.type === 'validation');
    const mutator = hooked.find(entry => entry.descriptor.type === 'mutation' && isActive(entry));
    const isSeen = validators.some(entry => entry.traits?.final && isActive(entry));
    if (!mutator || validators.length === 0 || isSeen) return [];
    return [
      `no active validator sees a ${event} request after ${mutator.descriptor.name} has changed it; ` +
        'make an active validator "final"',
    ];
  });
}

const hooksOf = ({ descriptor, overrides }: ChainEntry) => overrides?.hooks ?? descriptor.hooks;

const isActive = ({ descriptor, overrides }: ChainEntry): boolean =>
  (overrides?.mode ?? descriptor.mode) !== 'audit';
