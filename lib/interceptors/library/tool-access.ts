import type { Type } from '@nestjs/common';
import { Mutator, Validator } from '../../decorators/interceptor.decorators.js';
import { isFunction, isListOf, isObjectOf, isOneOf, isText, maybe } from '../../option-rules.js';
import {
  allow,
  deny,
  type InterceptorInvocation,
  type MutatorReturn,
  type ValidatorReturn,
} from '../authoring.js';
import { PRINCIPAL_TYPES } from '../protocol/types.js';
import type { OptionRules } from './own-options.js';
import {
  readyMade,
  withDefaults,
  type ReadyMadeMutatorOptions,
  type ReadyMadeValidatorOptions,
} from './ready-made.js';
import { ToolRules, type ToolRule } from './tool-rules.js';

/** Options of `ToolAccess`. Defaults: name `tool-access`, `final`. */
export interface ToolAccessOptions extends Omit<
  ReadyMadeValidatorOptions & ReadyMadeMutatorOptions,
  'events' | 'phase' | 'hooks' | 'scope'
> {
  /** A rule that denies wins over one that allows. */
  readonly rules: readonly ToolRule[];
  /** What holds for a tool that no rule names, and a principal that is known. Default: `deny`. */
  readonly otherwise?: 'allow' | 'deny';
}

const RULES = {
  rules: [
    isListOf(
      isObjectOf({
        principal: maybe(
          isObjectOf({
            type: maybe(isOneOf(...PRINCIPAL_TYPES)),
            id: maybe(id => isText(id) || isListOf(isText)(id)),
            claims: maybe(isFunction),
          }),
        ),
        allow: maybe(isListOf(isText)),
        deny: maybe(isListOf(isText)),
      }),
    ),
    'a list of { principal: { type, id, claims }, allow, deny }',
    'required',
  ],
  otherwise: [isOneOf('allow', 'deny'), '"allow" or "deny"'],
} as const satisfies OptionRules<string>;

/** What `ToolAccess` makes. */
export interface ToolAccessInterceptor {
  /** Denies a call of a tool that the caller may not call. */
  check(invocation: InterceptorInvocation<'tools/call', 'request'>): ValidatorReturn;
  /** Hides what the caller may not call. */
  hide(invocation: InterceptorInvocation<'tools/list', 'response'>): MutatorReturn;
}

/** Among the last, so that what other mutators add is hidden, too. */
const LAST = 1_000_000;

/**
 * Who may call which tool: a validator of `tools/call`, and a mutator, `<name>-list`, that leaves the others out of
 * `tools/list`. Unless the default is `allow`, a caller cannot tell a tool that is denied to it from one that there is not. Whoever is unknown is denied
 * whatever is not allowed to `anonymous` principals by name.
 *
 *     providers: [ToolAccess({ rules: [
 *       { allow: ['search', 'read_*'] },
 *       { principal: { claims: ({ role }) => role === 'admin' }, allow: ['*'] },
 *     ] })]
 *
 * @throws TypeError for an option that there is not, or that cannot be
 */
export function ToolAccess(options: ToolAccessOptions): Type<ToolAccessInterceptor> {
  const defaults = { name: 'tool-access', final: true, priority: LAST };
  const declared = withDefaults('ToolAccess', options, RULES, defaults);
  const rules = new ToolRules(options.rules, options.otherwise ?? 'deny');
  const { final, priority, ...shared } = declared;

  class Access implements ToolAccessInterceptor {
    @Validator({ ...shared, final, events: ['tools/call'], phase: 'request' })
    check({ payload, context }: InterceptorInvocation<'tools/call', 'request'>): ValidatorReturn {
      return rules.for(context?.principal)(payload.name)
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
      const mayCall = rules.for(context?.principal);
      const tools = payload.tools.filter(({ name }) => mayCall(name));
      return tools.length === payload.tools.length ? undefined : { ...payload, tools };
    }
  }
  return readyMade(Access, 'ToolAccess', declared.name);
}
