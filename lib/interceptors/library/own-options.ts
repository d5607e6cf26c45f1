import { resolve } from '../../options/check-options.js';
import type { ObjectSchema } from '../../options/option-schema.js';

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
