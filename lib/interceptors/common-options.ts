import { listOf, objectOf, oneOf, TEXTS, type OptionSchema } from '../options/option-schema.js';
import type { WhenRule } from './chain/when.js';
import { EVENT_PATTERN } from './protocol/events.js';
import { PRINCIPAL_TYPES, REVISION_PATTERN, type PriorityHint } from './protocol/types.js';

export const EVENTS = listOf(
  {
    type: 'string',
    pattern: EVENT_PATTERN,
    description: 'an event: "tools/call", "tools/*", "*" or "namespace/operation"',
  },
  'a list of events, with at least one',
  1,
);

export const PHASE = oneOf('request', 'response', 'both');

// None at all would switch an interceptor off without a word.
export const HOOKS = listOf(
  objectOf<{ events: string[]; phase: string }>(
    { events: EVENTS, phase: PHASE },
    { required: ['events', 'phase'], description: 'an object with events and a phase' },
  ),
  'a list of hooks, with at least one',
  1,
);

/** `enforce` is an older word for `active`. */
export const MODE = oneOf('active', 'enforce', 'audit');

const INT32: OptionSchema = {
  type: 'integer',
  minimum: -(2 ** 31),
  maximum: 2 ** 31 - 1,
  description: 'a 32-bit integer',
};

export const PRIORITY: OptionSchema = {
  anyOf: [INT32, objectOf<Exclude<PriorityHint, number>>({ request: INT32, response: INT32 })],
  description: 'a 32-bit integer, or an object with one for request and for response',
};

export const REVISION: OptionSchema = {
  type: 'string',
  pattern: REVISION_PATTERN,
  description: 'a revision such as "2026-07-28"',
};

export const WHEN = objectOf<WhenRule>({
  name: TEXTS,
  principal: objectOf<NonNullable<WhenRule['principal']>>({ type: oneOf(...PRINCIPAL_TYPES), id: TEXTS }),
  protocol: objectOf<NonNullable<WhenRule['protocol']>>({ min: REVISION, max: REVISION }),
});
