import { pathOf, PolicyError } from './policy-error.js';
import type { InterceptorOverride } from '../interceptor-options.js';
import { parsePolicy, type PolicyFormat } from './policy-document.js';
import { shapeProblemOf } from '../common-options.js';

export interface InterceptorPolicy {
  overrides: Record<string, InterceptorOverride>;
  config: Record<string, Record<string, unknown>>;
}

/**
 * Reads a policy and checks its shape. It refuses an empty text, which may be an unfinished file.
 * @returns objects without a prototype, so that a name never finds an inherited property
 * @throws PolicyError with file, line, column, path and rule
 */
export function readPolicy(text: string, format: PolicyFormat, file = `policy.${format}`): InterceptorPolicy {
  const { value, positionOf } = parsePolicy(text, format, file);
  if (value === null) throw new PolicyError('is empty; write {} for a policy without entries', { file });
  const problem = shapeProblemOf(value);
  if (problem) {
    const { rule, steps } = problem;
    throw new PolicyError(rule, { file, ...positionOf(steps), path: pathOf(steps) });
  }
  return policyOf(value as Partial<InterceptorPolicy>);
}

const policyOf = ({ overrides, config }: Partial<InterceptorPolicy>): InterceptorPolicy => ({
  overrides: withoutPrototype(overrides),
  config: withoutPrototype(config),
});

const withoutPrototype = <T>(record: Record<string, T> | null = null): Record<string, T> =>
  Object.assign(Object.create(null) as Record<string, T>, record);
