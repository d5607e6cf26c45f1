import { matchesAny } from '../protocol/glob.js';
import { aboutAny } from '../protocol/subject.js';
import type { InterceptorDescriptor, Principal } from '../protocol/types.js';
import type { Invocation } from './result.js';

/** Which messages an interceptor applies to: those for which all that is said holds. */
export interface WhenRule {
  /**
   * The tool or prompt that a message names, or the URI of its resource, in any spelling; `*` stands for any characters.
   * A message without a name, such as a `tools/list`, does not match. The interceptor fails if the request of a result is
   * unknown, as in an `interceptor/invoke`. A custom event matches by its `name` or `uri`.
   */
  readonly name?: string | readonly string[];
  /** Who calls: the type, and ids in which `*` stands for any characters. A caller without an id has none of them. */
  readonly principal?: { readonly type?: Principal['type']; readonly id?: string | readonly string[] };
  /** The negotiated revision, from `min` to `max`. Where it is not known, it is meant. */
  readonly protocol?: { readonly min?: string; readonly max?: string };
}

type Told = Omit<Invocation, 'signal' | 'timeoutMs'>;

/** Whether an interceptor applies to a message. One that throws is a failure of the interceptor. */
export type WhenPredicate = (invocation: Told) => boolean | Promise<boolean>;

/** Both what an interceptor's author declared and what the invoker decided have to hold; undefined where neither says. */
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

/** Whether an interceptor understands a revision; one that is not known does no harm. */
export const isCompatible = (
  compat: InterceptorDescriptor['compat'],
  revision: string | undefined,
): boolean => !compat || revision === undefined || isWithin(revision, compat.minProtocol, compat.maxProtocol);
