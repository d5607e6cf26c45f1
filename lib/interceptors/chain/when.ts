import { matchesAny } from '../protocol/glob.js';
import { aboutAny } from '../protocol/subject.js';
import type { InterceptorDescriptor, Principal } from '../protocol/types.js';
import type { Invocation } from './result.js';

/** A condition on messages. An interceptor applies to messages that satisfy all given fields. */
export interface WhenRule {
  /**
   * The name of a tool or prompt, or the URI of a resource, in any spelling; `*` stands for any characters. For an
   * event of the application, its `name` or `uri`. A message without a name, such as `tools/list`, does not match. If
   * the name belonging to a result is unknown, as in `interceptor/invoke`, the interceptor fails.
   */
  readonly name?: string | readonly string[];
  /** The caller's type and ids; `*` stands for any characters. A caller without an id matches no id. */
  readonly principal?: { readonly type?: Principal['type']; readonly id?: string | readonly string[] };
  /** The negotiated revision, from `min` to `max`. An unknown revision matches. */
  readonly protocol?: { readonly min?: string; readonly max?: string };
}

type Told = Omit<Invocation, 'signal' | 'timeoutMs'>;

/** Decides whether an interceptor applies to a message. If it throws, the interceptor fails. */
export type WhenPredicate = (invocation: Told) => boolean | Promise<boolean>;

/** Combines the author's condition and the invoker's condition; both must hold. Undefined without conditions. */
export function conditionOf(
  declared: WhenPredicate | WhenRule | undefined,
  override: WhenRule | undefined,
): WhenPredicate | undefined {
  const own = typeof declared === 'object' ? predicateOf(declared) : declared;
  const rule = override && predicateOf(override);
  return own && rule ? invocation => rule(invocation) && own(invocation) : (rule ?? own);
}

function predicateOf({ name, principal, protocol }: WhenRule): (invocation: Told) => boolean {
  const isAbout = name === undefined ? undefined : aboutAny(listOf(name));
  const ids = principal?.id === undefined ? undefined : listOf(principal.id);
  return invocation => {
    const { protocolVersion, context } = invocation;
    const { type, id }: Principal = context?.principal ?? { type: 'anonymous' };
    if (principal?.type !== undefined && principal.type !== type) return false;
    if (ids && (id === undefined || !matchesAny(ids, id))) return false;
    if (protocol && protocolVersion !== undefined && !isWithin(protocolVersion, protocol.min, protocol.max))
      return false;
    return isAbout?.(invocation) ?? true;
  };
}

const listOf = (value: string | readonly string[]): readonly string[] =>
  typeof value === 'string' ? [value] : value;

export const isWithin = (revision: string, min = '', max?: string): boolean =>
  min <= revision && (max === undefined || revision <= max);

/** Whether an interceptor supports a revision. An unknown revision counts as supported. */
export const isCompatible = (
  compat: InterceptorDescriptor['compat'],
  revision: string | undefined,
): boolean => !compat || revision === undefined || isWithin(revision, compat.minProtocol, compat.maxProtocol);
