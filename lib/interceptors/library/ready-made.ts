import { Injectable, type Type } from '@nestjs/common';
import type { MutatorOptions, ValidatorOptions } from '../decorators/decorator-options.js';
import { omit, type ObjectSchema } from '../../options/option-schema.js';
import { MUTATOR, VALIDATOR } from '../local/check-options.js';
import { checked } from './own-options.js';

export type ReadyMadeValidatorOptions = Omit<ValidatorOptions, 'configSchema' | 'sideEffects'>;

export type ReadyMadeMutatorOptions = Omit<MutatorOptions, 'configSchema' | 'sideEffects'>;

export const READY_MADE_VALIDATOR = omit(VALIDATOR.properties, 'configSchema', 'sideEffects');
export const READY_MADE_MUTATOR = omit(MUTATOR.properties, 'configSchema', 'sideEffects');
const HANDED_ON = { ...READY_MADE_VALIDATOR, ...READY_MADE_MUTATOR };

type Declared = ReadyMadeValidatorOptions & ReadyMadeMutatorOptions;

/** Splits the options into own ones and those for the decorator, with defaults. `hooks` replace `events` and `phase`. */
export function withDefaults<T extends object, F extends Partial<Declared>>(
  factory: string,
  schema: ObjectSchema<T, F>,
  options: T,
  { events, phase, ...defaults }: Declared & { readonly name: string },
): { own: F; declared: Declared & { name: string } } {
  const own = checked(factory, schema, options);
  const said: Partial<Declared> = Object.fromEntries(
    Object.entries(own).filter(([key]) => Object.hasOwn(HANDED_ON, key)),
  );
  const declared = {
    ...defaults,
    ...(events && !said.hooks && { events }),
    ...(phase && !said.hooks && { phase }),
    ...said,
    name: said.name ?? defaults.name,
  };
  return { own, declared };
}

/** Makes a class a provider whose name tells in messages where it comes from: `SizeLimit(size-limit)`. */
export function readyMade<T>(provider: Type<T>, factory: string, name: string): Type<T> {
  Injectable()(provider);
  Object.defineProperty(provider, 'name', { value: `${factory}(${name})` });
  return provider;
}
