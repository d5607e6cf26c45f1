import type { Type } from '@nestjs/common';
import { Mutator, Validator } from '../decorators/interceptor.decorators.js';
import {
  FUNCTION,
  listOf,
  objectOf,
  omit,
  oneOf,
  TEXT,
  type OptionSchema,
} from '../../options/option-schema.js';
import {
  allow,
  deny,
  type InterceptorInvocation,
  type MutatorReturn,
  type ValidatorReturn,
} from '../authoring.js';
import { PRINCIPAL_TYPES } from '../protocol/types.js';
import {
  READY_MADE_MUTATOR,
  READY_MADE_VALIDATOR,
  readyMade,
  withDefaults,
  type ReadyMadeMutatorOptions,
  type ReadyMadeValidatorOptions,
} from './ready-made.js';
import { ToolRules, type PrincipalMatch, type ToolRule } from './tool-rules.js';

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

export interface ToolAccessInterceptor {
  check(invocation: InterceptorInvocation<'tools/call', 'request'>): ValidatorReturn;
  hide(invocation: InterceptorInvocation<'tools/list', 'response'>): MutatorReturn;
}

const LAST = 1_000_000;

/**
 * Who may call which tool: a validator of `tools/call`, and a mutator, `<name>-list`, that hides other tools in
 * `tools/list`. Anonymous principals may only call tools that a rule allows to `anonymous`.
 *
 *     providers: [ToolAccess({ rules: [
 *       { allow: ['search', 'read_*'] },
 *       { principal: { claims: ({ role }) => role === 'admin' }, allow: ['*'] },
 *     ] })]
 *
 * @throws TypeError for an unknown or wrong option
 */
export function ToolAccess(options: ToolAccessOptions): Type<ToolAccessInterceptor> {
  const defaults = { name: 'tool-access', final: true, priority: LAST };
  const { own, declared } = withDefaults('ToolAccess', TOOL_ACCESS, options, defaults);
  const rules = new ToolRules(own.rules, own.otherwise);
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
