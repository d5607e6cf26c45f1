import type {
  InterceptorMetadata,
  InterceptorOptions,
  MutatorOptions,
  ValidatorOptions,
} from '../decorators/interceptor.decorators.js';
import { resolve } from '../../options/check-options.js';
import {
  COUNT,
  FLAG,
  FUNCTION,
  listOf,
  OBJECT,
  objectOf,
  oneOf,
  TEXT,
  type OptionSchema,
} from '../../options/option-schema.js';
import type { MutationScope } from '../chain/scope.js';
import { EVENTS, HOOKS, MODE, PHASE, PRIORITY, REVISION, WHEN } from '../common-options.js';
import { readHooks } from '../protocol/read-descriptor.js';
import type { InterceptorDescriptor } from '../protocol/types.js';
import { defined } from '../../util/defined.js';
import { POINTER } from '../remote/check-server.js';

type Compat = NonNullable<InterceptorDescriptor['compat']>;

const COMPAT = objectOf<Compat>(
  { minProtocol: REVISION, maxProtocol: REVISION },
  {
    required: ['minProtocol'],
    accepts: ({ minProtocol, maxProtocol = minProtocol }: Compat) => minProtocol <= maxProtocol,
    description: '{ minProtocol, maxProtocol }, revisions such as "2025-11-25", the earlier first',
  },
);

const SCOPE = objectOf<MutationScope>(
  { allow: listOf(POINTER), deny: listOf(POINTER), onBreach: oneOf('fail', 'drop') },
  {
    description:
      '{ allow, deny, onBreach }: lists of JSON Pointers such as "/arguments", and "fail" or "drop"',
  },
);

const WHOLE: OptionSchema = {
  title: 'its options',
  description: 'an object, with "events"',
  problem: ({ hooks, events, phase }: InterceptorOptions) => {
    if (hooks === undefined) {
      return events ? undefined : 'it does not hook an event: give it at least one in "events"';
    }
    return events === undefined && phase === undefined
      ? undefined
      : 'it has "hooks" beside "events" or "phase"; use only "hooks"';
  },
};

export const SINK = objectOf<InterceptorOptions>(
  {
    name: TEXT,
    version: TEXT,
    description: TEXT,
    events: EVENTS,
    phase: PHASE,
    hooks: HOOKS,
    mode: MODE,
    failOpen: FLAG,
    timeoutMs: COUNT,
    compat: COMPAT,
    configSchema: { ...OBJECT, description: 'a JSON Schema' },
    server: { ...TEXT, description: 'the name of a server' },
    when: {
      anyOf: [FUNCTION, WHEN],
      description: 'a function, or { name, principal: { type, id }, protocol: { min, max } }',
    },
    inputRequired: FLAG,
    sideEffects: oneOf('none', 'some'),
  },
  WHOLE,
);

export const VALIDATOR = objectOf<ValidatorOptions>(
  { ...SINK.properties, final: oneOf(true, false, 'only') },
  WHOLE,
);

export const MUTATOR = objectOf<MutatorOptions>(
  { ...SINK.properties, priority: PRIORITY, scope: SCOPE },
  WHOLE,
);

const SCHEMAS = { validation: VALIDATOR, mutation: MUTATOR, sink: SINK };

export function describe({ type, options }: InterceptorMetadata, methodName: string): InterceptorDescriptor {
  resolve(SCHEMAS[type], options, problem => new Error(problem));
  const { name = methodName, version, description, mode, failOpen, compat, configSchema } = options;
  const { events = [], phase = 'request', hooks = [{ events, phase }], priority: priorityHint } = options;
  return defined({
    name,
    version,
    description,
    type,
    hooks: readHooks(hooks),
    mode: mode === 'audit' ? mode : 'active',
    failOpen,
    priorityHint,
    compat,
    configSchema,
  });
}
