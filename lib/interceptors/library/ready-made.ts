import { Injectable, type Type } from '@nestjs/common';
import type { MutatorOptions, ValidatorOptions } from '../../decorators/interceptor-options.js';
import { checkOptions, type OptionRules } from './own-options.js';

/** Options that every ready-made validator hands on to `@Validator`. */
export type ReadyMadeValidatorOptions = Omit<ValidatorOptions, 'configSchema' | 'sideEffects'>;

/** Options that every ready-made mutator hands on to `@Mutator`. */
export type ReadyMadeMutatorOptions = Omit<MutatorOptions, 'configSchema' | 'sideEffects'>;

const HANDED_ON = [
  'name',
  'version',
  'description',
  'events',
  'phase',
  'hooks',
  'mode',
  'failOpen',
  'timeoutMs',
  'compat',
  'server',
  'when',
  'inputRequired',
  'final',
  'priority',
  'scope',
] as const satisfies readonly (keyof (ValidatorOptions & MutatorOptions))[];

type Own<T> = Exclude<keyof T, (typeof HANDED_ON)[number]> & string;

/**
 * A ready-made interceptor's defaults, with what the application says instead. `hooks` replace `events` and `phase`.
 * @throws TypeError for an option that there is not, or that cannot be
 */
export function withDefaults<T extends ReadyMadeValidatorOptions & ReadyMadeMutatorOptions>(
  factory: string,
  options: T,
  rules: OptionRules<Own<T>>,
  { events, phase, ...defaults }: ValidatorOptions & MutatorOptions & { readonly name: string },
): ValidatorOptions & MutatorOptions & { name: string } {
  checkOptions(factory, options, rules, HANDED_ON);
  const said = Object.fromEntries(
    HANDED_ON.filter(key => options[key] !== undefined).map(key => [key, options[key]]),
  ) as Partial<ValidatorOptions & MutatorOptions>;
  return {
    ...defaults,
    ...(events && !said.hooks && { events }),
    ...(phase && !said.hooks && { phase }),
    ...said,
    name: said.name ?? defaults.name,
  };
}

/** Makes a class a provider whose name tells in messages where it comes from: `SizeLimit(size-limit)`. */
export function readyMade<T>(provider: Type<T>, factory: string, name: string): Type<T> {
  Injectable()(provider);
  Object.defineProperty(provider, 'name', { value: `${factory}(${name})` });
  return provider;
}

/** @throws RangeError unless the value is a whole number, at least `min` */
export function requireInteger(name: string, value: number, min = 1): number {
  if (!Number.isInteger(value) || value < min)
    throw new RangeError(`${name} must be a whole number, at least ${min}; it is ${value}`);
  return value;
}
