import { Injectable, type Type } from '@nestjs/common';
import type { MutatorOptions, ValidatorOptions } from '../decorators/interceptor.decorators.js';
import { type ObjectSchema, omit } from '../../options/option-schema.js';
import { MUTATOR, VALIDATOR } from '../local/check-options.js';
import { defined } from '../../util/defined.js';
import { resolve } from '../../options/check-options.js';

export type ReadyMadeValidatorOptions = Omit<ValidatorOptions, 'configSchema' | 'sideEffects'>;

export type ReadyMadeMutatorOptions = Omit<MutatorOptions, 'configSchema' | 'sideEffects'>;

export const READY_MADE_VALIDATOR = omit(VALIDATOR.properties, 'configSchema', 'sideEffects');
export const READY_MADE_MUTATOR = omit(MUTATOR.properties, 'configSchema', 'sideEffects');
const HANDED_ON = { ...READY_MADE_VALIDATOR, ...READY_MADE_MUTATOR };

type Declared = ReadyMadeValidatorOptions & ReadyMadeMutatorOptions;

/**
 * Separates the factory's own options from the options of the decorator, and adds defaults; `hooks` replace `events`
 * and `phase`. `provider` turns a class into a provider whose name in messages shows its origin:
 * `SizeLimit(size-limit)`.
 */
export function readyMade<T extends object, F extends Partial<Declared>>(
  factory: string,
  schema: ObjectSchema<T, F>,
  options: T,
  { events, phase, ...defaults }: Declared & { readonly name: string },
) {
  const own = checked(factory, schema, options);
  const said: Partial<Declared> = Object.fromEntries(
    Object.entries(own).filter(([key]) => Object.hasOwn(HANDED_ON, key)),
  );
  const name = said.name ?? defaults.name;
  const declared = { ...defaults, ...(!said.hooks && defined({ events, phase })), ...said, name };
  const provider = <P>(type: Type<P>): Type<P> => {
    Injectable()(type);
    Object.defineProperty(type, 'name', { value: `${factory}(${name})` });
    return type;
  };
  return { own, declared, provider };
}

/** @throws RangeError for a number out of range, TypeError for any other wrong option */
export function checked<T extends object, F extends object>(
  factory: string,
  schema: ObjectSchema<T, F>,
  options: T,
): F {
  return resolve({ title: 'options', ...schema }, options, (problem, { value }) => {
    const Reason = typeof value === 'number' ? RangeError : TypeError;
    return new Reason(`${factory}: ${problem}`);
  });
}
