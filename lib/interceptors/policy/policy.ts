import type { InterceptorOverride } from '../interceptor-options.js';
import { parseJson, parseYaml } from './policy-document.js';
import { shapeProblemOf } from './policy-schema.js';
import { PolicySource } from './policy-source.js';

/** What the people who run an application decide for its interceptors, in a file of theirs. */
export interface InterceptorPolicy {
  /** By `name` or `host/name`. */
  overrides: Record<string, InterceptorOverride>;
  /** Configuration by name; it wins over an override's. */
  config: Record<string, Record<string, unknown>>;
}

/** How a policy is written. */
export type PolicyFormat = 'json' | 'yaml';

/**
 * Reads a policy and checks its shape. A policy without entries is written `{}`, for an empty text may be half of one that
 * somebody is still writing; an empty section is fine. Which interceptors there are, and what their configuration may be,
 * is not known here.
 * @param file what messages call the text. Default: `policy.json` or `policy.yaml`
 * @returns objects without a prototype, so that no name finds anything that nobody wrote
 * @throws PolicyError naming file, line and column, path and rule
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
