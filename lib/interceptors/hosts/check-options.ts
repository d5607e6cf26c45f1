import type {
  InterceptorMetadata,
  MutatorOptions,
  ValidatorOptions,
} from '../../decorators/interceptor-options.js';
import { isJsonPointer } from '../../schema/json-pointer.js';
import { isRecord } from '../../schema/plain-json.js';
import { EVENT_PATTERN } from '../protocol/events.js';
import { isPriority, readHooks } from '../protocol/read-descriptor.js';
import type { InterceptorDescriptor, InterceptorType, Mode } from '../protocol/types.js';

type Options = ValidatorOptions & MutatorOptions;

/** What an option may be: a test, and what completes "must be". */
type Rule = readonly [test: (value: unknown) => boolean, what: string];

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';
const isListOf = (test: (value: unknown) => boolean, value: unknown) =>
  Array.isArray(value) && value.every(test);
const isOneOf =
  (...values: readonly unknown[]) =>
  (value: unknown) =>
    values.includes(value);
const hasOnly = (value: object, ...keys: readonly string[]) =>
  Object.keys(value).every(key => keys.includes(key));

const MODES: Readonly<Record<string, Mode>> = { active: 'active', enforce: 'active', audit: 'audit' };
const PHASES = '"request", "response" or "both"';
const isPhase = isOneOf('request', 'response', 'both');
const EVENT = new RegExp(EVENT_PATTERN);
/** Revisions are compared as text, which only dates stand. */
const isRevision = (value: unknown) => isText(value) && /^\d{4}-\d{2}-\d{2}$/.test(value);

const TEXT: Rule = [isText, 'a string that is not empty'];

const RULES: Readonly<Record<keyof Options, Rule>> = {
  name: TEXT,
  version: TEXT,
  description: TEXT,
  events: [Array.isArray, 'a list of events'],
  phase: [isPhase, PHASES],
  hooks: [Array.isArray, 'a list of { events, phase }'],
  mode: [isOneOf(...Object.keys(MODES)), '"active" or "audit"'],
  failOpen: [value => typeof value === 'boolean', 'true or false'],
  timeoutMs: [
    value => Number.isSafeInteger(value) && (value as number) > 0,
    'a whole number of milliseconds above 0',
  ],
  compat: [isCompat, '{ minProtocol, maxProtocol }, of revisions such as "2025-11-25"'],
  configSchema: [isRecord, 'a JSON Schema'],
  server: [isText, 'the name of a server'],
  when: [
    value => typeof value === 'function' || isWhenRule(value),
    'a function, or { name, principal: { type, id }, protocol: { min, max } }',
  ],
  inputRequired: [value => typeof value === 'boolean', 'true or false'],
  sideEffects: [isOneOf('none', 'some'), '"none" or "some"'],
  final: [isOneOf(true, false, 'only'), 'true, false or "only"'],
  priority: [isPriorityHint, 'a 32-bit integer, or { request, response } of them'],
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
    assert(
      isRecord(hook) && Array.isArray(hook.events) && isPhase(hook.phase) && hasOnly(hook, 'events', 'phase'),
      `each of its "hooks" must be { events, phase }: a list, and ${PHASES}`,
    );
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
  if (!isRecord(value) || !hasOnly(value, 'minProtocol', 'maxProtocol')) return false;
  const { minProtocol, maxProtocol = minProtocol } = value;
  return (
    isRevision(minProtocol) && isRevision(maxProtocol) && (minProtocol as string) <= (maxProtocol as string)
  );
}

function isWhenRule(value: unknown): boolean {
  if (!isRecord(value) || !hasOnly(value, 'name', 'principal', 'protocol')) return false;
  const { name, principal = {}, protocol = {} } = value;
  return (
    isTexts(name) &&
    isRecord(principal) &&
    hasOnly(principal, 'type', 'id') &&
    isOneOf(undefined, 'user', 'service', 'anonymous')(principal['type']) &&
    isTexts(principal['id']) &&
    isRecord(protocol) &&
    hasOnly(protocol, 'min', 'max') &&
    [protocol['min'], protocol['max']].every(side => side === undefined || isRevision(side))
  );
}

const isTexts = (value: unknown): boolean =>
  value === undefined || isText(value) || (isListOf(isText, value) && (value as unknown[]).length > 0);

function isPriorityHint(value: unknown): boolean {
  if (!isRecord(value)) return isPriority(value);
  const sides = [value['request'], value['response']];
  return hasOnly(value, 'request', 'response') && sides.every(side => side === undefined || isPriority(side));
}

function isScope(value: unknown): boolean {
  if (!isRecord(value) || !hasOnly(value, 'allow', 'deny', 'onBreach')) return false;
  const { allow = [], deny = [], onBreach = 'fail' } = value;
  return (
    isListOf(isJsonPointer, allow) &&
    isListOf(isJsonPointer, deny) &&
    (onBreach === 'fail' || onBreach === 'drop')
  );
}

function assert(holds: boolean, problem: string): asserts holds {
  if (!holds) throw new Error(problem);
}
