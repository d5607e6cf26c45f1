import type { PreparedEntry } from '../../interceptors/chain/entry.js';
import {
  coversPattern,
  EVENT_OF,
  INPUT_EVENTS,
  isNotificationEvent,
  matchesEvent,
  NOTIFICATION_EVENTS,
} from '../../interceptors/protocol/events.js';

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

/** Sentences about hooks that can never match. */
export function deadHooks({ name, hooks }: PreparedEntry): string[] {
  const events = new Set(hooks.flatMap(hook => hook.events));
  const isHooked = (event: string, phase: string) =>
    hooks.some(hook => hook.phase === phase && hook.events.includes(event));
  return [
    ...[...events].flatMap(event => {
      const reason = whyNever(event);
      return reason === undefined ? [] : [`${name} hooks ${event}, which ${reason}`];
    }),
    // Only hooks by name, because `*` and `notifications/*` also cover other events or phases.
    ...NOTIFICATION_EVENTS.filter(event => isHooked(event, 'response') && !isHooked(event, 'request')).map(
      event =>
        `${name} hooks ${event} in the response phase, which never happens; a notification only has a request phase`,
    ),
  ];
}

function whyNever(event: string): string | undefined {
  if (EVENTS.some(known => matchesEvent(event, known))) return undefined;
  if (NEVER_INTERCEPTED.some(method => coversPattern(method, event)))
    return `is never intercepted; events are ${EVENTS.join(', ')}`;
  if (event === 'subscriptions/listen')
    return 'is never intercepted; its resources are admitted as resources/subscribe';
  const [namespace, ...operation] = event.split('/');
  if (NAMESPACES.has(namespace)) return `never happens; events are ${EVENTS.join(', ')}`;
  const meant = [`${namespace}s`, ...operation].join('/');
  return NAMESPACES.has(`${namespace}s`)
    ? `is not an event of the protocol; did you mean ${meant}?`
    : undefined;
}
