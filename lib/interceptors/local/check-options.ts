import type {
  InterceptorMetadata,
  MutatorOptions,
  ValidatorOptions,
} from '../../decorators/interceptor-options.js';
import {
  isBoolean,
  isCount,
  isFunction,
  isListOf,
  isObjectOf,
  isOneOf,
  isText,
  isTexts,
  maybe,
  type OptionRule,
} from '../../option-rules.js';
import { isJsonPointer } from '../../schema/json-pointer.js';
import { isRecord } from '../../schema/plain-json.js';
import { EVENT_PATTERN } from '../protocol/events.js';
import { isPriority, readHooks } from '../protocol/read-descriptor.js';
import {
  PRINCIPAL_TYPES,
  REVISION_PATTERN,
  type InterceptorDescriptor,
  type InterceptorType,
  type Mode,
} from '../protocol/types.js';

type Options = ValidatorOptions & MutatorOptions;

const MODES: Readonly<Record<string, Mode>> = { active: 'active', enforce: 'active', audit: 'audit' };
const PHASES = '"request", "response" or "both"';
const isPhase = isOneOf('request', 'response', 'both');
const EVENT = new RegExp(EVENT_PATTERN);
const REVISION = new RegExp(REVISION_PATTERN);
const isRevision = (value: unknown) => typeof value === 'string' && REVISION.test(value);

const isWhenRule = isObjectOf({
  name: maybe(isTexts),
  principal: maybe(isObjectOf({ type: maybe(isOneOf(...PRINCIPAL_TYPES)), id: maybe(isTexts) })),
  protocol: maybe(isObjectOf({ min: maybe(isRevision), max: maybe(isRevision) })),
});

const isPrioritySides = isObjectOf({ request: maybe(isPriority), response: maybe(isPriority) });

const isScope = isObjectOf({
  allow: maybe(isListOf(isJsonPointer)),
  deny: maybe(isListOf(isJsonPointer)),
  onBreach: maybe(isOneOf('fail', 'drop')),
});

const isHook = isObjectOf({ events: Array.isArray, phase: isPhase });

const isRange = isObjectOf({ minProtocol: isRevision, maxProtocol: maybe(isRevision) });

const TEXT: OptionRule = [isText, 'a string that is not empty'];

const RULES: Readonly<Record<keyof Options, OptionRule>> = {
  name: TEXT,
  version: TEXT,
  description: TEXT,
  events: [Array.isArray, 'a list of events'],
  phase: [isPhase, PHASES],
  hooks: [Array.isArray, 'a list of { events, phase }'],
  mode: [isOneOf(...Object.keys(MODES)), '"active" or "audit"'],
  failOpen: [isBoolean, 'true or false'],
  timeoutMs: [isCount, 'a whole number of milliseconds above 0'],
  compat: [isCompat, '{ minProtocol, maxProtocol }, of revisions such as "2025-11-25"'],
  configSchema: [isRecord, 'a JSON Schema'],
  server: [isText, 'the name of a server'],
  when: [
    value => isFunction(value) || isWhenRule(value),
    'a function, or { name, principal: { type, id }, protocol: { min, max } }',
  ],
  inputRequired: [isBoolean, 'true or false'],
  sideEffects: [isOneOf('none', 'some'), '"none" or "some"'],
  final: [isOneOf(true, false, 'only'), 'true, false or "only"'],
  priority: [
    value => isPriority(value) || isPrioritySides(value),
    'a 32-bit integer, or { request, response } of them',
  ],
  scope: [
    isScope,
    '{ allow, deny, onBreach }: lists of JSON Pointers such as "/arguments", and "fail" or "drop"',
  ],
};

/** Options that mean something for one kind of interceptor alone. */
const ONLY_FOR: Partial<Record<keyof Options, InterceptorType>> = {
  final: 'validation',
  priority: 'mutation',
  scope: 'mutation',
};

/**
 * Turns an author's options into a descriptor.
 * @throws Error saying which option is wrong and what it may be
 */
export function describe({ type, options }: InterceptorMetadata, methodName: string): InterceptorDescriptor {
  const isObject: boolean = isRecord(options);
  assert(isObject, 'its options must be an object, with "events"');
  checkRules(type, options);
  const { name = methodName, version, description, mode = 'active', failOpen, priority, compat } = options;
  return {
    name,
    ...(version !== undefined && { version }),
    ...(description !== undefined && { description }),
    type,
    hooks: readHooks(checkedHooks(options)),
    ...(MODES[mode] === 'audit' && { mode: 'audit' }),
    ...(failOpen === true && { failOpen }),
    ...(priority !== undefined && priority !== 0 && { priorityHint: priority }),
    ...(compat && { compat }),
    ...(options.configSchema && { configSchema: options.configSchema }),
  };
}

function checkRules(type: InterceptorType, options: Options): void {
  const known = (Object.keys(RULES) as (keyof Options)[]).filter(key => (ONLY_FOR[key] ?? type) === type);
  for (const [key, value] of Object.entries(options)) {
    const option = known.find(one => one === key);
    assert(option !== undefined, `it has the unknown option "${key}"; known are ${known.join(', ')}`);
    const [test, what] = RULES[option];
    assert(value === undefined || test(value), `its "${key}" must be ${what}`);
  }
}

function checkedHooks({ hooks, events, phase }: Options): NonNullable<Options['hooks']> {
  assert(
    hooks === undefined || (events === undefined && phase === undefined),
    'it has "hooks" beside "events" or "phase"; say it all in "hooks"',
  );
  const declared = hooks ?? [{ events: events ?? [], phase: phase ?? 'request' }];
  for (const hook of declared) {
    assert(isHook(hook), `each of its "hooks" must be { events, phase }: a list, and ${PHASES}`);
    const wrong = (hook.events as readonly unknown[]).find(
      event => typeof event !== 'string' || !EVENT.test(event),
    );
    assert(
      wrong === undefined,
      `${JSON.stringify(wrong)} is no event: use "tools/call", "tools/*", "*" or "namespace/operation"`,
    );
  }
  const isHooking = declared.length > 0 && declared.every(hook => hook.events.length > 0);
  assert(isHooking, 'it hooks no event: give it at least one in "events"');
  return declared;
}

function isCompat(value: unknown): boolean {
  if (!isRange(value)) return false;
  const { minProtocol, maxProtocol = minProtocol } = value as { minProtocol: string; maxProtocol?: string };
  return minProtocol <= maxProtocol;
}

function assert(holds: boolean, problem: string): asserts holds {
  if (!holds) throw new Error(problem);
}
