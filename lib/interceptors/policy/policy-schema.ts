import { problemOf } from '../../options/check-options.js';
import { FLAG, OBJECT, objectOf, TIME, type OptionSchema } from '../../options/option-schema.js';
import { HOOKS, MODE, PRIORITY, WHEN } from '../common-options.js';
import type { InterceptorOverride } from '../interceptor-options.js';

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

/** A section without entries is null in YAML. */
const orEmpty = ({ description, ...section }: OptionSchema): OptionSchema => ({
  anyOf: [section, { enum: [null] }],
  description,
});

const POLICY = objectOf({ overrides: orEmpty(OVERRIDES), config: orEmpty(CONFIG) });

export const shapeProblemOf = (value: unknown): { steps: readonly string[]; rule: string } | undefined =>
  problemOf(POLICY, value);
