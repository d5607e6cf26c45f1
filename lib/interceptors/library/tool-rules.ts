import type { InvocationContext } from '../protocol/types.js';
import { matchesAny } from '../protocol/glob.js';

export type Principal = NonNullable<InvocationContext['principal']>;

export interface PrincipalMatch {
  /** Default: `user` and `service`; what is denied is denied to `anonymous`, too. */
  readonly type?: Principal['type'];
  /** Ids, in which `*` stands for any characters. */
  readonly id?: string | readonly string[];
  /** What has to hold for the principal's claims; it is given none where there are none. */
  readonly claims?: (claims: Readonly<Record<string, unknown>>) => boolean;
}

/** Tools that a principal may call, and tools that it may not; `*` in a name stands for any characters. */
export interface ToolRule {
  /** Default: everyone who is known. */
  readonly principal?: PrincipalMatch;
  /** Names of tools. Default: none. */
  readonly allow?: readonly string[];
  /** Names of tools; it wins over every `allow`. Default: none. */
  readonly deny?: readonly string[];
}

export class ToolRules {
  constructor(
    private readonly rules: readonly ToolRule[],
    private readonly otherwise: 'allow' | 'deny',
  ) {}

  /**
   * An anonymous principal may only call tools that a rule for `anonymous` allows. A `deny` for ids also covers
   * principals without an id.
   */
  for(principal: Principal = { type: 'anonymous' }): (tool: unknown) => boolean {
    const isUnknown = principal.type === 'anonymous';
    const select = (side: 'allow' | 'deny') =>
      this.rules
        .filter(rule => rule[side] && isFor(rule.principal, principal, side === 'deny'))
        .flatMap(rule => rule[side] ?? []);
    const denied = select('deny');
    const allowed = select('allow');
    return tool =>
      typeof tool === 'string' &&
      !matchesAny(denied, tool) &&
      (matchesAny(allowed, tool) || (this.otherwise === 'allow' && !isUnknown));
  }
}

function isFor(match: PrincipalMatch = {}, { type, id, claims = {} }: Principal, denies: boolean): boolean {
  if (match.type === undefined ? type === 'anonymous' && !denies : match.type !== type) return false;
  if (match.id !== undefined) {
    const ids = typeof match.id === 'string' ? [match.id] : match.id;
    if (id === undefined ? !denies : !matchesAny(ids, id)) return false;
  }
  return match.claims?.(claims) ?? true;
}
