import type { ApplicationConfig } from '@nestjs/core';
import { visibleGuardsOf } from './enhancer-host.js';
import type { HandlerPlan } from './handler-executor.js';
import { isPiped } from './handler-pipeline.js';
import { declaredMethodOf, type HandlerTarget } from './handler-target.js';

/** A guard, pipe, interceptor or filter of a handler. */
export interface EnhancerStep {
  readonly kind: 'guard' | 'interceptor' | 'pipe' | 'filter';
  /** Name of the class. */
  readonly name: string;
  readonly level: 'global' | 'class' | 'method' | 'parameter';
  /** Index of the parameter on which a pipe runs. */
  readonly parameter?: number;
}

type Kind = EnhancerStep['kind'];

/** Nest's metadata keys. */
const KEYS: Readonly<Record<Kind, string>> = {
  guard: '__guards__',
  interceptor: '__interceptors__',
  pipe: '__pipes__',
  filter: '__exceptionFilters__',
};

interface ScopedEnhancer {
  readonly name: unknown;
}

/** Nest runs global enhancers first: the static enhancers, then the request-scoped enhancers. */
function globalsOf(kind: Kind, config: ApplicationConfig): readonly unknown[] {
  const scoped = (wrappers: readonly ScopedEnhancer[]) => wrappers.map(({ name }) => name);
  switch (kind) {
    case 'guard':
      return [...config.getGlobalGuards(), ...scoped(config.getGlobalRequestGuards())];
    case 'interceptor':
      return [...config.getGlobalInterceptors(), ...scoped(config.getGlobalRequestInterceptors())];
    case 'pipe':
      return [...config.getGlobalPipes(), ...scoped(config.getGlobalRequestPipes())];
    case 'filter':
      return [...config.getGlobalFilters(), ...scoped(config.getGlobalRequestFilters())];
  }
}

/** The enhancers of a handler, in running order. Filters run only if something throws. */
export function enhancerSteps(
  { target, params }: Pick<HandlerPlan, 'target' | 'params'>,
  config: ApplicationConfig,
): EnhancerStep[] {
  const own = (kind: Kind) => stepsOf(kind, target, config);
  const pipes = own('pipe');
  const piped = params.filter(isPiped).flatMap(({ index, pipes: more }) => [
    ...pipes.map(step => ({ ...step, parameter: index })),
    ...more.map((pipe): EnhancerStep => ({
      kind: 'pipe',
      name: nameOf(pipe),
      level: 'parameter',
      parameter: index,
    })),
  ]);
  // The innermost filter that takes an error decides.
  return [...own('guard'), ...own('interceptor'), ...piped, ...own('filter').reverse()];
}

/** Names of the guards of `@Visible`, in the order in which they run. */
export const visibleSteps = ({ target }: HandlerPlan): string[] => visibleGuardsOf(target).map(nameOf);

function stepsOf(kind: Kind, target: HandlerTarget, config: ApplicationConfig): EnhancerStep[] {
  const declared = (owner: object) => (Reflect.getMetadata(KEYS[kind], owner) ?? []) as unknown[];
  const step = (level: EnhancerStep['level']) => (enhancer: unknown) => ({
    kind,
    name: nameOf(enhancer),
    level,
  });
  return [
    ...globalsOf(kind, config).map(step('global')),
    ...declared(target.handlerClass).map(step('class')),
    ...declared(declaredMethodOf(target)).map(step('method')),
  ];
}

/** An enhancer is a class, an instance, or the token of a class that Nest makes for each request. */
export function nameOf(enhancer: unknown): string {
  if (typeof enhancer === 'function') return enhancer.name;
  if (typeof enhancer !== 'object' || enhancer === null) {
    // Nest numbers the tokens of global providers.
    return String(enhancer).replace(/ \(UUID: .*\)$/, '');
  }
  const { name } = enhancer.constructor;
  return name === 'Object' ? 'object without a class' : name;
}
