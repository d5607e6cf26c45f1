import {
  Catch,
  Injectable,
  Scope,
  UseFilters,
  UseGuards,
  UseInterceptors,
  UsePipes,
  type CallHandler,
  type ExecutionContext,
  type Provider,
  type Type,
} from '@nestjs/common';
import { APP_FILTER, APP_GUARD, APP_INTERCEPTOR, APP_PIPE } from '@nestjs/core';
import * as fc from 'fast-check';
import { Args, deny, Mutator, Tool, Validator, Visible, type McpModuleOptions } from 'nestjs-mcp';
import { RequireScopes } from 'nestjs-mcp/auth';

type InterceptorOverride = NonNullable<NonNullable<McpModuleOptions['interceptors']>['overrides']>[string];

/** How many of each kind stand at each level. */
interface Counts {
  readonly guards: number;
  readonly interceptors: number;
  readonly pipes: number;
  readonly filters: number;
}

interface ToolPlan extends Counts {
  /** Verdicts of its guards of `@Visible`. */
  readonly visible: readonly boolean[];
  readonly scopes: readonly ('a' | 'b')[];
  readonly paramPipes: number;
}

interface InterceptorPlan {
  readonly type: 'validator' | 'mutator';
  readonly phase: 'request' | 'response';
  readonly priority: number;
  readonly audit: boolean;
  readonly final: false | true | 'only';
  /** Which tool it is about; undefined: all. */
  readonly when: number | undefined;
  /** A mutator changes the payload, a validator objects. */
  readonly acts: boolean;
  readonly override: InterceptorOverride | undefined;
}

export interface AppPlan {
  readonly global: Counts;
  /** Whether global enhancers live for one request. */
  readonly isScoped: boolean;
  readonly shared: Counts;
  readonly tools: readonly ToolPlan[];
  readonly interceptors: readonly InterceptorPlan[];
  /** A mutator of lists that removes this tool, for each. */
  readonly removed: readonly number[];
  readonly isProtected: boolean;
}

const counts = fc.record({
  guards: fc.nat(2),
  interceptors: fc.nat(2),
  pipes: fc.nat(2),
  filters: fc.nat(2),
});

const override: fc.Arbitrary<InterceptorOverride> = fc.record(
  {
    mode: fc.constantFrom('active' as const, 'audit' as const),
    priority: fc.integer({ min: -3, max: 3 }),
    timeoutMs: fc.constantFrom(2000, 5000),
    failOpen: fc.boolean(),
  },
  { requiredKeys: [] },
);

export const APPS: fc.Arbitrary<AppPlan> = fc.record({
  global: counts,
  isScoped: fc.boolean(),
  shared: counts,
  tools: fc
    .array(
      fc
        .tuple(
          counts,
          fc.record({
            visible: fc.array(fc.constantFrom(true, true, true, false), { maxLength: 2 }),
            scopes: fc.subarray(['a', 'b'] as const),
            paramPipes: fc.nat(2),
          }),
        )
        .map(([one, other]): ToolPlan => ({ ...one, ...other })),
      { minLength: 1, maxLength: 4 },
      // A server without a tool for anonymous callers refuses them before any list.
    )
    .map(([first, ...others]) => [{ ...first, scopes: [] }, ...others]),
  interceptors: fc.array(
    fc.record({
      type: fc.constantFrom('validator' as const, 'mutator' as const),
      phase: fc.constantFrom('request' as const, 'response' as const),
      priority: fc.integer({ min: -2, max: 2 }),
      audit: fc.boolean(),
      final: fc.constantFrom(false as const, true as const, 'only' as const),
      when: fc.oneof({ weight: 3, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: fc.nat(3) }),
      acts: fc.boolean(),
      override: fc.option(override, { nil: undefined }),
    }),
    { minLength: 2, maxLength: 8 },
  ),
  removed: fc.uniqueArray(fc.nat(3), { maxLength: 2 }),
  isProtected: fc.boolean(),
});

/** What ran in an application, in its order. */
export class Log {
  /** Enhancers of Nest, as `kind name`. */
  steps: string[] = [];
  /** Interceptors, as `phase name`. */
  turns: string[] = [];
  /** Why a list lacks a tool: the first that hid it. */
  readonly removers = new Map<string, string>();

  clear(): void {
    this.steps = [];
    this.turns = [];
    this.removers.clear();
  }
}

class Special extends Error {}

interface MadeApp {
  readonly handlers: Type[];
  readonly providers: Provider[];
  readonly overrides: Record<string, InterceptorOverride>;
}

/** The application of a plan, which writes down what runs. */
export function makeApp(plan: AppPlan, log: Log): MadeApp {
  const make = new Enhancers(log);
  const Tools = named('Tools', class {});
  const prototype = Tools.prototype as Record<string, unknown>;
  plan.tools.forEach((tool, index) => addTool(prototype, tool, index, make, log, plan.isProtected));
  decorate(make.all('Class', plan.shared), one => one(Tools));
  Injectable()(Tools);

  const Chain = named('Chain', class {});
  const overrides: Record<string, InterceptorOverride> = {};
  plan.interceptors.forEach((one, index) => {
    addInterceptor(Chain.prototype as Record<string, unknown>, one, index, log);
    if (one.override) overrides[`i${index}`] = one.override;
  });
  plan.removed.forEach(index => addRemover(Chain.prototype as Record<string, unknown>, index, log));
  Injectable()(Chain);

  const global = make.classes('Global', plan.global, plan.isScoped ? Scope.REQUEST : Scope.DEFAULT);
  const bind = (provide: string, classes: readonly Type[]) =>
    classes.map(useClass => ({ provide, useClass }));
  return {
    handlers: [Tools, Chain],
    providers: [
      ...bind(APP_GUARD, global.guards),
      ...bind(APP_INTERCEPTOR, global.interceptors),
      ...bind(APP_PIPE, global.pipes),
      ...bind(APP_FILTER, global.filters),
    ],
    overrides,
  };
}

function addTool(
  prototype: Record<string, unknown>,
  plan: ToolPlan,
  index: number,
  make: Enhancers,
  log: Log,
  isProtected: boolean,
): void {
  const key = `tool${index}`;
  prototype[key] = named(key, (text: string) => {
    if (text === 'special') throw new Special(text);
    if (text === 'plain') throw new Error(text);
    return `said ${text}`;
  });
  const descriptor = Object.getOwnPropertyDescriptor(prototype, key)!;
  Reflect.defineMetadata('design:paramtypes', [String], prototype, key);
  Args('text', ...make.pipes(`${key}Param`, plan.paramPipes))(prototype, key, 0);
  decorate(make.all(`${key}Method`, plan), one => one(prototype, key, descriptor));
  const visible = plan.visible.map((verdict, at) => make.visible(`${key}Visible${at}`, key, verdict, log));
  if (visible.length > 0) Visible(...visible)(prototype, key, descriptor);
  if (isProtected && plan.scopes.length > 0) RequireScopes(...plan.scopes)(prototype, key, descriptor);
  Tool({ description: key })(prototype, key, descriptor);
}

function addInterceptor(
  prototype: Record<string, unknown>,
  { type, phase, priority, audit, final, when, acts }: InterceptorPlan,
  index: number,
  log: Log,
): void {
  const name = `i${index}`;
  prototype[name] = named(name, ({ payload }: { payload: Record<string, unknown> }) => {
    log.turns.push(`${phase} local/${name}`);
    if (type === 'validator') return !acts || deny(`${name} objects`);
    return acts ? { ...payload, _meta: { ...(payload['_meta'] as object), [name]: index } } : undefined;
  });
  const descriptor = Object.getOwnPropertyDescriptor(prototype, name)!;
  const shared = {
    name,
    events: ['tools/call'],
    phase,
    ...(audit && { mode: 'audit' as const }),
    ...(when !== undefined && { when: { name: `tool${when}` } }),
  };
  const declare =
    type === 'validator'
      ? Validator({ ...shared, ...(final !== false && { final }) })
      : Mutator({ ...shared, priority });
  declare(prototype, name, descriptor);
}

function addRemover(prototype: Record<string, unknown>, index: number, log: Log): void {
  const [name, tool] = [`remove${index}`, `tool${index}`];
  prototype[name] = named(name, ({ payload }: { payload: { tools: { name: string }[] } }) => {
    const tools = payload.tools.filter(one => one.name !== tool);
    if (tools.length === payload.tools.length) return undefined;
    if (!log.removers.has(tool)) log.removers.set(tool, `interceptor local/${name}`);
    return { ...payload, tools };
  });
  const descriptor = Object.getOwnPropertyDescriptor(prototype, name)!;
  Mutator({ name, events: ['tools/list'], phase: 'response' })(prototype, name, descriptor);
}

interface Classes {
  readonly guards: Type[];
  readonly interceptors: Type[];
  readonly pipes: Type[];
  readonly filters: Type[];
}

type AnyDecorator = ClassDecorator & MethodDecorator;

/** Makes enhancers that write down that they run, for handlers alone. */
class Enhancers {
  constructor(private readonly log: Log) {}

  all(level: string, wanted: Counts): AnyDecorator[] {
    const { guards, interceptors, pipes, filters } = this.classes(level, wanted);
    return [
      ...(guards.length > 0 ? [UseGuards(...guards)] : []),
      ...(interceptors.length > 0 ? [UseInterceptors(...interceptors)] : []),
      ...(pipes.length > 0 ? [UsePipes(...pipes)] : []),
      ...(filters.length > 0 ? [UseFilters(...filters)] : []),
    ];
  }

  classes(level: string, wanted: Counts, scope = Scope.DEFAULT): Classes {
    const times = (count: number, make: (at: number) => Type) =>
      Array.from({ length: count }, (_, at) => make(at));
    return {
      guards: times(wanted.guards, at => this.guard(`${level}Guard${at}`, scope)),
      interceptors: times(wanted.interceptors, at => this.interceptor(`${level}Interceptor${at}`, scope)),
      pipes: times(wanted.pipes, at => this.pipe(`${level}Pipe${at}`, scope)),
      filters: times(wanted.filters, at => this.filter(`${level}Filter${at}`, scope, at === 0)),
    };
  }

  pipes(level: string, count: number): Type[] {
    return Array.from({ length: count }, (_, at) => this.pipe(`${level}Pipe${at}`, Scope.DEFAULT));
  }

  /** Its verdict on a tool is kept if it is the first that hides it. */
  visible(name: string, tool: string, verdict: boolean, log: Log): Type {
    return this.made(
      name,
      Scope.DEFAULT,
      class {
        canActivate() {
          if (!verdict && !log.removers.has(tool)) log.removers.set(tool, `guard ${name}`);
          return verdict;
        }
      },
    );
  }

  private guard(name: string, scope: Scope): Type {
    const { log } = this;
    return this.made(
      name,
      scope,
      class {
        canActivate(context: ExecutionContext) {
          if (context.getType<string>() === 'mcp') log.steps.push(`guard ${name}`);
          return true;
        }
      },
    );
  }

  private interceptor(name: string, scope: Scope): Type {
    const { log } = this;
    return this.made(
      name,
      scope,
      class {
        intercept(context: ExecutionContext, next: CallHandler) {
          if (context.getType<string>() === 'mcp') log.steps.push(`interceptor ${name}`);
          return next.handle();
        }
      },
    );
  }

  private pipe(name: string, scope: Scope): Type {
    const { log } = this;
    return this.made(
      name,
      scope,
      class {
        transform(value: unknown) {
          log.steps.push(`pipe ${name}`);
          return value;
        }
      },
    );
  }

  private filter(name: string, scope: Scope, isSpecial: boolean): Type {
    const { log } = this;
    const type = this.made(
      name,
      scope,
      class {
        catch() {
          log.steps.push(`filter ${name}`);
          return { content: [], isError: true };
        }
      },
    );
    Catch(...(isSpecial ? [Special] : []))(type);
    return type;
  }

  private made(name: string, scope: Scope, type: Type): Type {
    Injectable({ scope })(type);
    return named(name, type);
  }
}

/** Filters that take only errors of the special kind. */
export const isSpecialFilter = (name: string): boolean => name.endsWith('Filter0');

function decorate(decorators: readonly AnyDecorator[], apply: (decorator: AnyDecorator) => void): void {
  for (const one of decorators) apply(one);
}

function named<T extends object>(name: string, value: T): T {
  return Object.defineProperty(value, 'name', { value: name });
}
