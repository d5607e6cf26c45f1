import {
  FLAG,
  FUNCTION,
  listOf,
  OBJECT,
  objectOf,
  oneOf,
  type OptionSchema,
  TEXT,
  TEXTS,
  TIME,
} from '../options/option-schema.js';
import type { WhenRule } from './chain/when.js';
import type { InterceptorSettings, McpInterceptorOptions } from './interceptor-options.js';
import { EVENT_PATTERN } from './protocol/events.js';
import { PRINCIPAL_TYPES, type PriorityHint, REVISION_PATTERN } from './protocol/types.js';
import { problemOf } from '../options/check-options.js';
import type { InterceptorOverride } from './chain/entry.js';

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

// At least one hook, because an empty list would silently turn the interceptor off.
export const HOOKS = listOf(
  objectOf<{ events: string[]; phase: string }>(
    { events: EVENTS, phase: PHASE },
    { required: ['events', 'phase'], description: 'an object with events and a phase' },
  ),
  'a list of hooks, with at least one',
  1,
);

/** `enforce` is an older name for `active`. */
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

const CONFIG_OF_ONE: OptionSchema = {
  ...OBJECT,
  description: "an object: the interceptor's configuration",
};

export const OVERRIDE = objectOf<InterceptorOverride>(
  {
    failOpen: FLAG,
    priority: PRIORITY,
    mode: MODE,
    timeoutMs: {
      ...TIME,
      description: `a whole number of milliseconds from ${TIME.minimum} to ${TIME.maximum}`,
    },
    hooks: HOOKS,
    when: WHEN,
    config: CONFIG_OF_ONE,
  },
  { description: 'an object with what is overridden' },
);

export const OVERRIDES: OptionSchema = {
  ...OBJECT,
  additionalProperties: OVERRIDE,
  description: 'an object by name of interceptor, or by host/name',
};

export const CONFIG: OptionSchema = {
  ...OBJECT,
  additionalProperties: CONFIG_OF_ONE,
  description: 'an object by name of interceptor',
};

export const INTERCEPTORS = objectOf<McpInterceptorOptions, InterceptorSettings>({
  apply: { ...FLAG, default: true },
  expose: { ...FLAG, default: false },
  // The engine checks the hosts: a server without hosts does not load their options.
  servers: { ...listOf({}, 'a list of hosts, each with a "name"'), default: [] },
  resolveServers: { ...FUNCTION, description: 'a function of the caller' },
  discovery: {
    ...objectOf<{ ttlMs?: number }>(
      { ttlMs: { type: 'number', minimum: 0, description: 'milliseconds, 0 or more' } },
      { description: '{ ttlMs }' },
    ),
    default: {},
  },
  overrides: { ...OVERRIDES, default: {} },
  policyFile: { ...TEXT, description: 'the path of a file' },
  timeoutMs: { ...TIME, default: 10_000 },
  config: { ...CONFIG, default: {} },
  denial: { ...oneOf('error', 'tool-error'), default: 'error' },
  warnings: { ...FLAG, default: false },
});

/** A section without entries is null in YAML. */
const orEmpty = ({ description, ...section }: OptionSchema): OptionSchema => ({
  anyOf: [section, { enum: [null] }],
  description,
});

const POLICY = objectOf({ overrides: orEmpty(OVERRIDES), config: orEmpty(CONFIG) });

export const shapeProblemOf = (value: unknown): { steps: readonly string[]; rule: string } | undefined =>
  problemOf(POLICY, value);
