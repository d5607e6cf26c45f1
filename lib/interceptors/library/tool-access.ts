import type { Type } from '@nestjs/common';
import { Mutator, Validator } from '../decorators/interceptor.decorators.js';
import {
  FUNCTION,
  listOf,
  objectOf,
  omit,
  oneOf,
  type OptionSchema,
  TEXT,
} from '../../options/option-schema.js';
import {
  allow,
  deny,
  type InterceptorInvocation,
  type MutatorReturn,
  type ValidatorReturn,
} from '../authoring.js';
import { type Principal, PRINCIPAL_TYPES } from '../protocol/types.js';
import {
  READY_MADE_MUTATOR,
  READY_MADE_VALIDATOR,
  readyMade,
  type ReadyMadeMutatorOptions,
  type ReadyMadeValidatorOptions,
} from './ready-made.js';
import { matchesAny } from '../protocol/glob.js';

export interface PrincipalMatch {
  /** Default: `user` and `service`; a `deny` also applies to `anonymous`. */
  readonly type?: Principal['type'];
  /** Ids; `*` stands for any characters. */
  readonly id?: string | readonly string[];
  /** A condition on the principal's claims. Without claims, it receives an empty object. */
  readonly claims?: (claims: Readonly<Record<string, unknown>>) => boolean;
}

/** Tools that a principal may call, and tools that it may not call; `*` in a name stands for any characters. */
export interface ToolRule {
  /** Default: every known principal. */
  readonly principal?: PrincipalMatch;
  /** Names of tools to allow. Default: none. */
  readonly allow?: readonly string[];
  /** Names of tools to deny; it overrides every `allow`. Default: none. */
  readonly deny?: readonly string[];
}

/**
 * Decides which tools a principal may call. An anonymous principal needs a rule for `anonymous`. A `deny` for ids also
 * applies to principals without an id.
 */
function mayCall(
  { rules, otherwise }: FilledToolAccess,
  principal: Principal = { type: 'anonymous' },
): (tool: unknown) => boolean {
  const select = (side: 'allow' | 'deny') =>
    rules
      .filter(rule => rule[side] && isFor(rule.principal, principal, side === 'deny'))
      .flatMap(rule => rule[side] ?? []);
  const denied = select('deny');
  const allowed = select('allow');
  return tool =>
    typeof tool === 'string' &&
    !matchesAny(denied, tool) &&
    (matchesAny(allowed, tool) || (otherwise === 'allow' && principal.type !== 'anonymous'));
}

function isFor(match: PrincipalMatch = {}, { type, id, claims = {} }: Principal, denies: boolean): boolean {
  if (match.type === undefined ? type === 'anonymous' && !denies : match.type !== type) return false;
  if (match.id !== undefined) {
    const ids = typeof match.id === 'string' ? [match.id] : match.id;
    if (id === undefined ? !denies : !matchesAny(ids, id)) return false;
  }
  return match.claims?.(claims) ?? true;
}

/** Options of `ToolAccess`. Defaults: name `tool-access`, `final`. */
export interface ToolAccessOptions extends Omit<
  ReadyMadeValidatorOptions & ReadyMadeMutatorOptions,
  'events' | 'phase' | 'hooks' | 'scope'
> {
  /** The rules. A `deny` overrides every `allow`. */
  readonly rules: readonly ToolRule[];
  /** The decision for a known principal and a tool without a rule. Default: `deny`. */
  readonly otherwise?: 'allow' | 'deny';
}

type FilledToolAccess = ToolAccessOptions & Required<Pick<ToolAccessOptions, 'otherwise'>>;

const IDS: OptionSchema = { anyOf: [TEXT, listOf(TEXT)], description: 'an id, or a list of ids' };

export const TOOL_RULE = objectOf<ToolRule>({
  principal: objectOf<PrincipalMatch>({ type: oneOf(...PRINCIPAL_TYPES), id: IDS, claims: FUNCTION }),
  allow: listOf(TEXT, 'a list of names'),
  deny: listOf(TEXT, 'a list of names'),
});

export const TOOL_ACCESS = objectOf<ToolAccessOptions, FilledToolAccess>(
  {
    rules: listOf(TOOL_RULE, 'a list of { principal: { type, id, claims }, allow, deny }'),
    otherwise: { ...oneOf('allow', 'deny'), default: 'deny' },
    ...omit({ ...READY_MADE_VALIDATOR, ...READY_MADE_MUTATOR }, 'events', 'phase', 'hooks', 'scope'),
  },
  { required: ['rules'] },
);

/** The provider that `ToolAccess` creates: `check` denies calls, `hide` shortens lists. */
export interface ToolAccessInterceptor {
  check(invocation: InterceptorInvocation<'tools/call', 'request'>): ValidatorReturn;
  hide(invocation: InterceptorInvocation<'tools/list', 'response'>): MutatorReturn;
}

const LAST = 1_000_000;

/**
 * Who may call which tool: a validator of `tools/call`, and a mutator, `<name>-list`, that hides other tools in
 * `tools/list`. Anonymous principals may only call tools that a rule allows to `anonymous`.
 *
 * @throws TypeError for an unknown or wrong option
 * @example
 * ```ts
 * providers: [ToolAccess({ rules: [
 *   { allow: ['search', 'read_*'] },
 *   { principal: { claims: ({ role }) => role === 'admin' }, allow: ['*'] },
 * ] })]
 * ```
 */
export function ToolAccess(options: ToolAccessOptions): Type<ToolAccessInterceptor> {
  const defaults = { name: 'tool-access', final: true, priority: LAST };
  const { own, declared, provider } = readyMade('ToolAccess', TOOL_ACCESS, options, defaults);
  const { final, priority, ...shared } = declared;

  class Access implements ToolAccessInterceptor {
    @Validator({ ...shared, final, events: ['tools/call'], phase: 'request' })
    check({ payload, context }: InterceptorInvocation<'tools/call', 'request'>): ValidatorReturn {
      return mayCall(own, context?.principal)(payload.name)
        ? allow()
        : deny('This tool is not available to you', { path: 'name' });
    }

    @Mutator({
      ...shared,
      name: `${shared.name}-list`,
      priority,
      events: ['tools/list'],
      phase: 'response',
    })
    hide({ payload, context }: InterceptorInvocation<'tools/list', 'response'>): MutatorReturn {
      const isShown = mayCall(own, context?.principal);
      const tools = payload.tools.filter(({ name }) => isShown(name));
      return tools.length === payload.tools.length ? undefined : { ...payload, tools };
    }
  }
  return provider(Access);
}
