import { DISPATCHED, INPUT_METHODS, METHODS, type InputMethod } from '../../protocol/methods.js';

export const EVENT_PATTERN = String.raw`^(\*|[A-Za-z0-9_.-]+/\*|[A-Za-z0-9_.-]+(/[A-Za-z0-9_.-]+)*)$`;

export const EVENT_OF: Readonly<Record<string, string | undefined>> = Object.fromEntries(
  DISPATCHED.flatMap(method => {
    const { event = method, onlyEnds } = METHODS.get(method)!;
    return onlyEnds ? [] : [[method, event]];
  }),
);

export const INPUT_EVENTS = INPUT_METHODS;

export const isInputEvent = (event: string): event is InputMethod =>
  (INPUT_EVENTS as readonly string[]).includes(event);

/** Notifications have no answer, so they only have a request phase. */
export const NOTIFICATION_EVENTS = ['notifications/progress', 'notifications/message'] as const;

export const isNotificationEvent = (event: string): boolean =>
  (NOTIFICATION_EVENTS as readonly string[]).includes(event);

/** Whether a pattern matches an event: `*` matches every event, `tools/*` a namespace. */
export function matchesEvent(pattern: string, event: string): boolean {
  return (
    pattern === '*' || pattern === event || (pattern.endsWith('/*') && event.startsWith(pattern.slice(0, -1)))
  );
}

export const coversPattern = (wide: string, narrow: string): boolean =>
  wide === '*' || wide === narrow || (narrow !== '*' && matchesEvent(wide, narrow));
