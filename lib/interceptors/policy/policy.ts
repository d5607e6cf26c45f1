import { PolicySource } from './policy-error.js';
import type { InterceptorOverride } from '../interceptor-options.js';
import { parseJson, parseYaml } from './policy-document.js';
import { shapeProblemOf } from '../common-options.js';

export interface InterceptorPolicy {
  overrides: Record<string, InterceptorOverride>;
  config: Record<string, Record<string, unknown>>;
}

export type PolicyFormat = 'json' | 'yaml';

/**
 * Reads a policy and checks its shape. It refuses an empty text, which may be an unfinished file.
 * @returns objects without a prototype, so that a name never finds an inherited property
 * @throws PolicyError with file, line, column, path and rule
 */
export function readPolicy(text: string, format: PolicyFormat, file = `policy.${format}`): InterceptorPolicy {
  const source = new PolicySource(text, file);
  if (text.trim() === '') throw source.error(EMPTY);
  const { value, offsetOf } = format === 'json' ? parseJson(source) : parseYaml(source);
  if (value === null) throw source.error(EMPTY);
  const problem = shapeProblemOf(value);
  if (problem) throw source.error(problem.rule, offsetOf(problem.steps), problem.steps);
  return policyOf(value as Partial<InterceptorPolicy>);
}

const EMPTY = 'is empty; write {} for a policy without entries';

const policyOf = ({ overrides, config }: Partial<InterceptorPolicy>): InterceptorPolicy => ({
  overrides: withoutPrototype(overrides),
  config: withoutPrototype(config),
});

const withoutPrototype = <T>(record: Record<string, T> | null = null): Record<string, T> =>
  Object.assign(Object.create(null) as Record<string, T>, record);
